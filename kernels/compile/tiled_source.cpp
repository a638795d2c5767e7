#include "kernels/compile/tiled_source.hpp"

#include <fmt/format.h>

#include "kernels/ampere_gemm.hpp"
#include "kernels/compile/registry.hpp"
#include "kernels/hopper_gemm.hpp"

namespace overlaptune::kernels {
namespace {

bool is_hopper(int compute_capability) {
  return compute_capability / 10 == kHopper / 10;
}

}  // namespace

Expected<TiledKernel> with_room(const TiledKernel& kernel) {
  if (kernel.regions < 1 || kernel.regions > kMostRegions) {
    return bad_input(fmt::format("wave_groups: {} regions of C: expected 1 to {}", kernel.regions,
                                 kMostRegions));
  }
  TiledKernel roomy = kernel;
  roomy.regions = kernel.regions <= kUsualRegions ? kUsualRegions : kMostRegions;
  return roomy;
}

const GpuLimits& portable_limits(int compute_capability) {
  constexpr int kAmpere = 80;
  return gpu_limits(is_hopper(compute_capability) ? kAmpere : compute_capability);
}

Expected<KernelSource> hopper_source(const TiledKernel& kernel) {
  return hopper_gemm(kernel.tile, kernel.elements, LaunchRoom::of(kernel));
}

Expected<KernelSource> portable_source(const TiledKernel& kernel, int compute_capability) {
  if (kernel.ranks > 0 || kernel.waits) {
    return bad_input("kernels that take their work from a queue are for Hopper GPUs");
  }
  return ampere_gemm(kernel.tile, portable_limits(compute_capability), kernel.elements,
                     kernel.regions);
}

Expected<CompileJob> job_of(const TiledKernel& kernel, int compute_capability) {
  const auto roomy = with_room(kernel);
  if (!roomy) return error_of(roomy);
  auto source = is_hopper(compute_capability) ? hopper_source(*roomy)
                                              : portable_source(*roomy, compute_capability);
  if (!source) return error_of(source);
  return CompileJob{.source = std::move(*source),
                    .architecture = architecture_of(compute_capability)};
}

}  // namespace overlaptune::kernels
