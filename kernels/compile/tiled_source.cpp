#include "kernels/compile/tiled_source.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "kernels/ampere_gemm.hpp"
#include "kernels/compile/registry.hpp"
#include "kernels/hopper_gemm.hpp"

namespace overlaptune::kernels {
namespace {

/// Numbers of segments that kernels are compiled for; segments are parameters of a kernel.
constexpr std::array<int, 2> kSegmentCounts{kUsualRegions, kMostRegions};

bool is_hopper(int compute_capability) {
  return compute_capability / 10 == kHopper / 10;
}

}  // namespace

LaunchRoom LaunchRoom::of(const TiledKernel& kernel) {
  const auto regions = static_cast<std::size_t>(kernel.regions);
  if (kernel.waits) return {.waits = regions};
  if (kernel.ranks == 0) return {.segments = regions};
  return {.ranks = static_cast<std::size_t>(kernel.ranks), .groups = regions};
}

Expected<TiledKernel> with_room(const TiledKernel& kernel) {
  const auto* most = std::find_if(kSegmentCounts.begin(), kSegmentCounts.end(),
                                  [&](int count) { return kernel.regions <= count; });
  if (kernel.regions < 1 || most == kSegmentCounts.end()) {
    return bad_input(fmt::format("wave_groups: {} regions of C: expected 1 to {}", kernel.regions,
                                 kSegmentCounts.back()));
  }
  TiledKernel roomy = kernel;
  roomy.regions = *most;
  return roomy;
}

const GpuLimits& portable_limits(int compute_capability) {
  constexpr int kAmpere = 80;
  return gpu_limits(is_hopper(compute_capability) ? kAmpere : compute_capability);
}

Expected<KernelSource> hopper_source(const TiledKernel& kernel) {
  const LaunchRoom room = LaunchRoom::of(kernel);
  return hopper_gemm(kernel.tile, kernel.elements,
                     {.segments = static_cast<int>(room.segments),
                      .waits = static_cast<int>(room.waits),
                      .ranks = static_cast<int>(room.ranks),
                      .groups = static_cast<int>(room.groups)});
}

Expected<KernelSource> portable_source(const TiledKernel& kernel, int compute_capability) {
  const LaunchRoom room = LaunchRoom::of(kernel);
  if (room.ranks > 0 || room.waits > 0) {
    return bad_input("kernels that take their work from a queue are for Hopper GPUs");
  }
  return ampere_gemm(kernel.tile, portable_limits(compute_capability), kernel.elements,
                     static_cast<int>(room.segments));
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
