#include "kernels/compile/tiled_source.hpp"

#include <charconv>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "kernels/ampere_gemm.hpp"
#include "kernels/hopper_gemm.hpp"

namespace overlaptune::kernels {
namespace {

constexpr std::string_view kPrefix = "sm_";
/// The first compute capability with cp.async, and with mma.sync for bf16.
constexpr int kLeastCapability = 80;

/// The compute capability in the name of an architecture: 90 for `sm_90a`; 0 for another kind of
/// name.
int capability_of(std::string_view architecture) {
  if (architecture.substr(0, kPrefix.size()) != kPrefix) return 0;
  architecture.remove_prefix(kPrefix.size());
  int capability = 0;
  std::from_chars(architecture.data(), architecture.data() + architecture.size(), capability);
  return capability;
}

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

bool is_hoppers(KernelFamily family, int compute_capability) {
  return family == KernelFamily::best && is_hopper(compute_capability);
}

std::string architecture_of(int compute_capability) {
  constexpr int kBlackwell = 100;
  if (compute_capability >= kBlackwell) compute_capability -= compute_capability % 10;
  return std::string(kPrefix) + std::to_string(compute_capability) +
         (compute_capability == kHopper ? "a" : "");
}

Expected<CompileJob> job_of(const TiledKernel& kernel, int compute_capability,
                            KernelFamily family) {
  const auto roomy = with_room(kernel);
  if (!roomy) return error_of(roomy);
  const bool hoppers = is_hoppers(family, compute_capability);
  if (!hoppers && (kernel.ranks > 0 || kernel.waits)) {
    return bad_input("kernels that take their work from a queue are for Hopper GPUs");
  }
  auto source = hoppers ? hopper_gemm(*roomy)
                        : ampere_gemm(kernel.tile, portable_limits(compute_capability),
                                      kernel.elements, roomy->regions);
  if (!source) return error_of(source);
  return CompileJob{.source = std::move(*source),
                    .architecture = architecture_of(compute_capability)};
}

std::vector<KernelSource> kernels_of(const std::string& architecture) {
  std::vector<KernelSource> list;
  std::set<std::string> known;  // elements with other scales have the same kernels
  const int capability = capability_of(architecture);
  if (capability < kLeastCapability) return list;
  const GpuLimits& limits = gpu_limits(capability);
  for (const auto& [elements, name] : NamesOf<Elements>::all) {
    // Results in fp16 are rare there, and differ by one instruction; exact sums are rare, too.
    if (is_scaled(elements) && (result_of(elements) == Dtype::fp16 || is_exact(elements))) continue;
    for (const Tile& tile : default_tiles(limits, elements)) {
      auto source =
          architecture == "sm_90a"
              ? hopper_gemm({.tile = tile, .elements = elements, .regions = kUsualRegions})
              : ampere_gemm(tile, limits, elements, kUsualRegions);
      if (source && known.insert(to_string(*source)).second) list.push_back(std::move(*source));
    }
  }
  return list;
}

}  // namespace overlaptune::kernels
