#include "kernels/compile/registry.hpp"

#include <charconv>
#include <set>
#include <string>
#include <string_view>

#include "core/config/tiling.hpp"
#include "core/gpu.hpp"
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

}  // namespace

std::string architecture_of(int compute_capability) {
  constexpr int kBlackwell = 100;
  if (compute_capability >= kBlackwell) compute_capability -= compute_capability % 10;
  return std::string(kPrefix) + std::to_string(compute_capability) +
         (compute_capability == kHopper ? "a" : "");
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
      auto source = architecture == "sm_90a"
                        ? hopper_gemm(tile, elements, {.segments = kUsualRegions})
                        : ampere_gemm(tile, limits, elements, kUsualRegions);
      if (source && known.insert(to_string(*source)).second) list.push_back(std::move(*source));
    }
  }
  return list;
}

}  // namespace overlaptune::kernels
