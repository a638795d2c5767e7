#pragma once
// Kernels from the cache, or compiled and put there; many at once, ahead of measuring.

#include <functional>
#include <string>
#include <vector>

#include "kernels/compiler.hpp"
#include "kernels/cubin_cache.hpp"

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

/// Called after each kernel, by one thread at a time; false ends the work after what is under way.
using CompileProgress =
    std::function<bool(std::size_t done, std::size_t total, const CompileJob& job)>;

/// One result a job, in their order; jobs that `progress` kept from being started are errors. What
/// a thread or `progress` throws comes out here, once every thread has ended. `threads`: 0 for one
/// a core.
[[nodiscard]] std::vector<Expected<Compiled>> compile_all(const Compiler& compiler,
                                                          const CubinCache& cache,
                                                          const std::vector<CompileJob>& jobs,
                                                          unsigned threads,
                                                          const CompileProgress& progress = {});

}  // namespace overlaptune::kernels
