#include "kernels/compile/compile_all.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>

namespace overlaptune::kernels {
namespace {

Expected<Compiled> not_started() {
  return bad_input("not compiled: stopped before");
}

/// The jobs, which threads take until none is left or one thread stops the work.
class Queue {
 public:
  Queue(const Compiler& compiler, const CubinCache& cache, const std::vector<CompileJob>& jobs,
        const CompileProgress& progress)
      : compiler_(compiler),
        cache_(cache),
        jobs_(jobs),
        progress_(progress),
        results_(jobs.size(), not_started()) {}

  void work() noexcept {
    try {
      while (!stopped_) {
        const std::size_t i = next_++;
        if (i >= jobs_.size()) return;
        results_[i] = compile_cached(compiler_, cache_, jobs_[i]);
        const std::lock_guard lock(mutex_);
        ++done_;
        if (progress_ && !progress_(done_, jobs_.size(), jobs_[i])) stopped_ = true;
      }
    } catch (...) {
      const std::lock_guard lock(mutex_);
      if (!thrown_) thrown_ = std::current_exception();
      stopped_ = true;
    }
  }

  /// The results, once every thread has ended.
  std::vector<Expected<Compiled>> take_results() {
    if (thrown_) std::rethrow_exception(thrown_);
    return std::move(results_);
  }

 private:
  const Compiler& compiler_;
  const CubinCache& cache_;
  const std::vector<CompileJob>& jobs_;
  const CompileProgress& progress_;
  std::vector<Expected<Compiled>> results_;
  std::atomic<std::size_t> next_ = 0;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;
  std::size_t done_ = 0;
  std::exception_ptr thrown_;
};

}  // namespace

Expected<Compiled> compile_cached(const Compiler& compiler, const CubinCache& cache,
                                  const CompileJob& job) {
  const std::string key = compiler.key(job.source, job.architecture);
  for (const std::string& each : {key, key_of_any_nvrtc(job.source, job.architecture)}) {
    if (auto cubin = cache.find(each)) {
      return Compiled{.cubin = std::move(*cubin), .from_cache = true};
    }
  }
  auto cubin = compiler.compile(job.source, job.architecture);
  if (!cubin) return error_of(cubin);
  cache.store(key, *cubin);
  return Compiled{.cubin = std::move(*cubin)};
}

std::vector<Expected<Compiled>> compile_all(const Compiler& compiler, const CubinCache& cache,
                                            const std::vector<CompileJob>& jobs, unsigned threads,
                                            const CompileProgress& progress) {
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  Queue queue(compiler, cache, jobs, progress);
  std::vector<std::thread> helpers;  // this thread works too
  const std::size_t wanted = std::min<std::size_t>(threads, jobs.size());
  helpers.reserve(wanted);
  try {
    while (helpers.size() + 1 < wanted) helpers.emplace_back([&queue] { queue.work(); });
  } catch (const std::system_error&) {
    // Fewer threads than asked for are enough.
  }
  queue.work();
  for (std::thread& helper : helpers) helper.join();
  return queue.take_results();
}

}  // namespace overlaptune::kernels
