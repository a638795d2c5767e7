#include "probes/sustained.hpp"

#include <algorithm>
#include <array>

#include "probes/link_sizes.hpp"

namespace overlaptune {
namespace {

constexpr std::int64_t kSize = 8192;  // rows and columns of C

void add(std::vector<Probe>& plan, const GemmProbe& gemm, const CollectiveProbe& collective) {
  plan.emplace_back(collective);  // its time alone tells the time of the GEMM
  plan.emplace_back(SustainedProbe{gemm, collective});
}

void add_library(std::vector<Probe>& plan, const Platform& platform, int ranks, ProbeDepth depth,
                 Elements elements) {
  for (const std::int64_t k : {2048, 8192}) {
    if (depth == ProbeDepth::quick && k == 2048) continue;
    // On 4 H200 with NVLink the collective takes between half and four times as long as the GEMM.
    // A slower link moves less in about that time.
    for (const std::int64_t parts : {8, 2, 1}) {
      if (depth == ProbeDepth::quick ? parts != 8 : k == 2048 && parts == 2) continue;
      const std::int64_t bytes = kSize * kSize * result_bytes(elements) * (k / 1024) /
                                 (parts * link_sizes(platform).sustained_divisor);
      add(plan, {.m = kSize, .n = kSize, .k = k, .elements = elements},
          {Collective::all_reduce, {bytes}, ranks, 0, Transport::ring});
    }
  }
}

/// GEMMs in turn with the smallest collective: the library's, and generated ones.
void add_alone(std::vector<Probe>& plan, const Platform& platform, int ranks, Elements elements) {
  // From the fewest loads for each multiply-add to the most; the first is in a cluster of two.
  constexpr std::array<Tile, 4> kTiles{
      {{128, 256, 0, 0, 2}, {192, 192, 0, 0, 1}, {128, 256, 0, 0, 1}, {128, 128, 0, 0, 1}}};
  constexpr std::array<Tile, 4> kExactTiles{
      {{256, 128, 0, 0, 2}, {256, 128, 0, 0, 1}, {128, 192, 0, 0, 1}, {128, 128, 0, 0, 1}}};
  constexpr std::int64_t kDepth = 4096;
  constexpr std::int64_t kStepBytes = 4096;  // keeps the ranks in step and takes little time
  const CollectiveProbe least{Collective::all_reduce, {kStepBytes}, ranks, 0, Transport::ring};
  GemmProbe gemm{.m = kSize, .n = kSize, .k = kDepth, .elements = elements};
  add(plan, gemm, least);
  gemm.swizzle = 8;
  for (const Tile& shape : is_exact(elements) ? kExactTiles : kTiles) {
    const auto tile = deepest(shape, gpu_limits(platform.compute_capability), elements);
    if (!tile) continue;
    gemm.tile = *tile;
    for (const int sms : {0, platform.sms - platform.sms / 8}) {
      gemm.sms = sms;
      add(plan, gemm, least);
    }
  }
}

}  // namespace

std::optional<Tile> deepest(Tile tile, const GpuLimits& limits, Elements elements) {
  tile.block_k = block_k_of(elements);
  for (tile.stages = 6; tile.stages >= limits.fewest_stages; --tile.stages) {
    if (is_feasible(tile, limits, elements)) return tile;
  }
  return std::nullopt;
}

std::vector<Probe> sustained_plan(const Platform& platform, std::span<const int> ranks,
                                  ProbeDepth depth, Elements elements) {
  std::vector<Probe> plan;
  for (const int count : ranks) add_library(plan, platform, count, depth, elements);
  if (depth == ProbeDepth::full && !ranks.empty()) {
    add_alone(plan, platform, std::ranges::max(ranks), elements);
  }
  return plan;
}

}  // namespace overlaptune
