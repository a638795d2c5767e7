#pragma once
// The place that kernels come from: the cache, or NVRTC. A cache that was filled ahead
// (`CubinCache::store` with `key_of_any_nvrtc`) serves a process that has no NVRTC, and may be
// read-only.

#include <vector>

#include "kernels/compile/compile_all.hpp"

namespace overlaptune::kernels {

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
