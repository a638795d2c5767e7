#pragma once
// Compiles kernels, unless they are in the cache, and stores them there. Many kernels can be
// compiled at once, before anything is measured.

#include <functional>
#include <string>
#include <vector>

#include "kernels/compile/compiler.hpp"
#include "kernels/compile/cubin_cache.hpp"

namespace overlaptune::kernels {

struct CompileJob {
  KernelSource source{};
  std::string architecture{};
};

struct Compiled {
  Cubin cubin{};
  bool from_cache = false;
};

[[nodiscard]] Expected<Compiled> compile_cached(const Compiler& compiler, const CubinCache& cache,
                                                const CompileJob& job);

/// A function that is called after each kernel, by one thread at a time. If it returns false, no
/// further kernel is started.
using CompileProgress =
    std::function<bool(std::size_t done, std::size_t total, const CompileJob& job)>;

/// Returns one result for each job, in their order; a job that was not started because of
/// `progress` is an error. An exception of a thread or of `progress` is thrown again once every
/// thread has ended. `threads`: 0 means one for each core.
[[nodiscard]] std::vector<Expected<Compiled>> compile_all(const Compiler& compiler,
                                                          const CubinCache& cache,
                                                          const std::vector<CompileJob>& jobs,
                                                          unsigned threads,
                                                          const CompileProgress& progress = {});

/// The place that kernels come from: the cache, or NVRTC. A cache that was filled ahead
/// (`CubinCache::store` with `key_of_any_nvrtc`) serves a process that has no NVRTC, and may be
/// read-only.
class Workshop {
 public:
  Workshop(Expected<Compiler> compiler, CubinCacheOptions cache)
      : compiler_(std::move(compiler)), cache_(std::move(cache)) {}

  /// NVRTC, if there is one, and the cache that the environment names. Error: as
  /// `cubin_cache_options`.
  [[nodiscard]] static Expected<Workshop> open();

  /// Error: as `Compiler::compile`; `machine_unavailable` where the cache lacks the kernel and
  /// there is no NVRTC.
  [[nodiscard]] Expected<Cubin> kernel(const CompileJob& job) const;

  /// Compiles the kernels that the cache lacks, where it can be written and there is an NVRTC. An
  /// error is left to `kernel`.
  void prepare(std::vector<CompileJob> jobs, unsigned threads) const;

 private:
  Expected<Compiler> compiler_;
  CubinCacheOptions cache_;
};

}  // namespace overlaptune::kernels
