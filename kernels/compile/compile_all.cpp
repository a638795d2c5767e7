#include "kernels/compile/compile_all.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace overlaptune::kernels {

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
  std::vector<Expected<Compiled>> results(jobs.size(), bad_input("not compiled: stopped before"));
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> stopped = false;
  std::mutex mutex;
  std::size_t done = 0;
  std::exception_ptr thrown;
  const auto work = [&]() noexcept {
    try {
      while (!stopped) {
        const std::size_t i = next++;
        if (i >= jobs.size()) return;
        results[i] = compile_cached(compiler, cache, jobs[i]);
        const std::lock_guard lock(mutex);
        ++done;
        if (progress && !progress(done, jobs.size(), jobs[i])) stopped = true;
      }
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!thrown) thrown = std::current_exception();
      stopped = true;
    }
  };
  if (threads == 0) threads = std::max(1U, std::thread::hardware_concurrency());
  std::vector<std::thread> helpers;  // this thread works too
  const std::size_t wanted = std::min<std::size_t>(threads, jobs.size());
  helpers.reserve(wanted);
  try {
    while (helpers.size() + 1 < wanted) helpers.emplace_back(work);
  } catch (const std::system_error&) {
    // Fewer threads than asked for are enough.
  }
  work();
  for (std::thread& helper : helpers) helper.join();
  if (thrown) std::rethrow_exception(thrown);
  return results;
}

Expected<Workshop> Workshop::open() {
  auto options = cubin_cache_options();
  if (!options) return error_of(options);
  return Workshop(Compiler::load(), std::move(*options));
}

Expected<Cubin> Workshop::kernel(const CompileJob& job) const {
  const CubinCache cache(cache_);
  if (compiler_) {
    auto compiled = compile_cached(*compiler_, cache, job);
    if (!compiled) return error_of(compiled);
    return std::move(compiled->cubin);
  }
  if (auto cubin = cache.find(key_of_any_nvrtc(job.source, job.architecture))) return *cubin;
  return tl::make_unexpected(
      Error{compiler_.error().kind,
            fmt::format("kernel {} for {}: not in the cache '{}' (OVERLAPTUNE_CACHE), which "
                        "`overlaptune kernels --db FILE --out FOLDER` fills, and {}",
                        to_string(job.source), job.architecture, cache_.folder.string(),
                        compiler_.error().message)});
}

void Workshop::prepare(std::vector<CompileJob> jobs, unsigned threads) const {
  const CubinCache cache(cache_);
  if (jobs.empty() || !compiler_ || !cache.can_store()) return;
  static_cast<void>(compile_all(*compiler_, cache, jobs, threads));
}

}  // namespace overlaptune::kernels
