// The probes that the model needs.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <set>
#include <utility>

#include "core/capabilities.hpp"
#include "core/config/tiling.hpp"
#include "core/gpu.hpp"
#include "core/nodes.hpp"
#include "probes/link_sizes.hpp"
#include "probes/probes.hpp"
#include "probes/sustained.hpp"

namespace overlaptune {
namespace {

constexpr std::array<int, 8> kCommCtas{2, 4, 6, 8, 12, 16, 24, 32};
constexpr std::int64_t kLeastBytes = std::int64_t{4} << 10;

/// Element `i` of the van der Corput sequence in `base`: evenly spread over [0, 1), whatever the
/// count (Halton, 1960, takes one base a dimension).
double halton(std::uint64_t i, std::uint64_t base) {
  double fraction = 0;
  double digit = 1;
  for (++i; i > 0; i /= base) {
    digit /= static_cast<double>(base);
    fraction += digit * static_cast<double>(i % base);
  }
  return fraction;
}

std::int64_t log_uniform(double u, double least, double most, std::int64_t multiple) {
  const double value = least * std::pow(most / least, u);
  return std::max<std::int64_t>(1, std::llround(value / static_cast<double>(multiple))) * multiple;
}

template <class List>
const auto& pick(double u, const List& list) {
  const auto count = static_cast<double>(list.size());
  return list[std::min(list.size() - 1, static_cast<std::size_t>(u * count))];
}

std::vector<int> usable_ctas(const Platform& platform, ProbeDepth depth = ProbeDepth::full) {
  std::vector<int> list;
  for (const int ctas : kCommCtas) {
    const bool wanted =
        ctas <= link_sizes(platform).most_ctas && (depth == ProbeDepth::full || ctas == 16);
    if (wanted && ctas < platform.sms / 2) list.push_back(ctas);
  }
  return list;
}

/// Most CTAs of a peer access probe: this many fill the links.
constexpr int kMostPeerCtas = 16;

/// Whether candidates use such a collective. With copy engines, CTAs only move the part that stays
/// on the rank: all SMs (0) do so after the GEMM (for all_gather before it), and few beside it, for
/// the sizes that are probed beside a GEMM.
bool is_worth_probing(const CollectiveProbe& probe) {
  if (!serves(probe.transport, probe.collective)) return false;
  if (probe.transport == Transport::peer_access) {
    return probe.comm_ctas > 0 && probe.comm_ctas <= kMostPeerCtas;
  }
  if (probe.transport != Transport::copy_engine) return true;
  if (probe.comm_ctas == 0) return probe.bytes.count >= (std::int64_t{64} << 10);
  if (probe.collective == Collective::all_gather) return false;
  constexpr std::array<int, 3> kFew{4, 8, 16};
  constexpr std::array<std::int64_t, 3> kSizes{1 << 20, 1 << 26, 1 << 28};
  return std::ranges::find(kFew, probe.comm_ctas) != kFew.end() &&
         std::ranges::find(kSizes, probe.bytes.count) != kSizes.end();
}

void add_launch(std::vector<Probe>& plan) {
  for (const auto& [cost, name] : NamesOf<LaunchCost>::all) plan.emplace_back(LaunchProbe{cost});
}

void add_copies(std::vector<Probe>& plan) {
  for (const int shift : {16, 20, 22, 24, 26}) {
    plan.emplace_back(CopyProbe{{std::int64_t{1} << shift}, 0});
  }
  for (const int ctas : {1, 2, 4, 8, 16, 32, 64}) {
    plan.emplace_back(CopyProbe{{std::int64_t{1} << 26}, ctas});
  }
}

void add_collectives(std::vector<Probe>& plan, const Platform& platform,
                     std::span<const Transport> transports, int ranks, ProbeDepth depth) {
  // Sizes are powers of two; large ones are powers of four, because they take long and their time
  // grows evenly.
  constexpr std::int64_t kLarge = std::int64_t{64} << 20;
  const int step = depth == ProbeDepth::full ? link_sizes(platform).step : 16;
  std::vector<int> ctas_list = usable_ctas(platform, depth);
  ctas_list.insert(ctas_list.begin(), 0);
  for (const Transport transport : transports) {
    for (const auto& [collective, name] : NamesOf<Collective>::all) {
      for (const int ctas : ctas_list) {
        const bool coarse = !is_nccls(transport);
        for (std::int64_t bytes = kLeastBytes; bytes <= link_sizes(platform).most;
             bytes *= coarse || bytes >= kLarge ? std::max(step, 4) : step) {
          const CollectiveProbe probe{collective, {bytes}, ranks, ctas, transport};
          if (is_worth_probing(probe)) plan.emplace_back(probe);
        }
      }
    }
  }
}

/// The SMs of a GEMM probe. Half of the shapes leave SMs free, as candidates do.
int sms_of(double u, const Platform& platform) {
  std::vector<int> budgets(usable_ctas(platform).size(), 0);  // 0: all of them
  for (const int ctas : usable_ctas(platform)) budgets.push_back(platform.sms - ctas);
  return pick(u, budgets);
}

double macs(const GemmProbe& probe) {
  return static_cast<double>(probe.m) * static_cast<double>(probe.n) * static_cast<double>(probe.k);
}

/// A GEMM shape of a size that layers have and that does not take long. Three shapes in four are
/// made of whole tiles, as layers are, which GEMM libraries run best.
GemmProbe gemm_shape(std::uint64_t i, double least_m, Elements elements) {
  constexpr double kMostMacs = 8192.0 * 8192.0 * 16384.0;
  constexpr std::int64_t kWhole = 128;
  constexpr double kLowest = 256;  // fewer rows are not rounded: they are tokens
  const bool whole_tiles = i % 4 != 3;
  GemmProbe probe;
  probe.elements = elements;
  probe.n = log_uniform(halton(i, 3), 512, 32768, whole_tiles ? kWhole : n_multiple(elements));
  probe.k = log_uniform(halton(i, 5), 512, 32768, whole_tiles ? kWhole : k_multiple(elements));
  const double most_m = std::max(least_m, kMostMacs / static_cast<double>(probe.n * probe.k));
  const double m = std::min(least_m * std::pow(32768 / least_m, halton(i, 2)), most_m);
  probe.m = log_uniform(0, m, m, whole_tiles && m >= kLowest ? 64 : 1);
  return probe;
}

void add_library_gemms(std::vector<Probe>& plan, const Platform& platform, ProbeDepth depth,
                       Elements elements) {
  constexpr std::uint64_t kCount = 160;
  constexpr double kLeastRows = 8;  // smallest height of a chunk
  // GEMMs on the whole GPU need the most shapes.
  int whole = depth == ProbeDepth::full ? kCount : 26;
  int partial = depth == ProbeDepth::full ? kCount : 8;
  std::vector<GemmProbe> shapes;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    GemmProbe shape = gemm_shape(i, kLeastRows, elements);
    shape.sms = sms_of(halton(i, 7), platform);
    if ((shape.sms == 0 ? whole : partial)-- > 0) shapes.push_back(shape);
  }
  // Small shapes first: after a large one the GPU is hot and takes long to recover its clock.
  std::ranges::sort(shapes, {}, macs);
  plan.insert(plan.end(), shapes.begin(), shapes.end());
}

/// The feasible tiles, with swap-AB or without, by shape, from the smallest shape to the largest.
std::vector<std::vector<Tile>> tiles_by_area(const Platform& platform, Elements elements,
                                             bool swap_ab = false) {
  std::vector<std::vector<Tile>> shapes;
  for (const Tile& tile : feasible_tiles(gpu_limits(platform.compute_capability), elements)) {
    if (tile.swaps_ab() != swap_ab) continue;
    if (shapes.empty() || shapes.back().front().block_m != tile.block_m ||
        shapes.back().front().block_n != tile.block_n) {
      shapes.emplace_back();
    }
    shapes.back().push_back(tile);
  }
  std::ranges::stable_sort(shapes, {}, [](const std::vector<Tile>& tiles) {
    return tiles.front().block_m * tiles.front().block_n;
  });
  return shapes;
}

/// GEMMs in generated kernels.
void add_generated_gemms(std::vector<Probe>& plan, const Platform& platform, ProbeDepth depth,
                         Elements elements) {
  // Each tile shape is equally likely, however many stages fit it; large shapes, which include the
  // fastest, are more likely.
  const auto add = [&](std::uint64_t count, const auto& tiles, const auto& shape_of) {
    for (std::uint64_t i = 0; i < count; ++i) {
      GemmProbe probe = shape_of(i);
      probe.tile = pick(halton(i, 13), pick(std::sqrt(halton(i, 11)), tiles));
      probe.swizzle = pick(halton(i, 17), kTriedSwizzles);
      probe.sms = sms_of(halton(i, 7), platform);
      plan.emplace_back(probe);
    }
  };
  const std::uint64_t many = depth == ProbeDepth::full ? 192 : 32;
  const std::uint64_t few = depth == ProbeDepth::full ? 24 : 4;
  const auto tiles = tiles_by_area(platform, elements);
  constexpr double kLeastRows = 64;
  add(many, tiles, [&](std::uint64_t i) { return gemm_shape(i + 1000, kLeastRows, elements); });
  // Rows that begin within a sector of L2. They load so slowly that this bounds most tiles. The
  // shapes above have few of them, and only with few rows.
  const std::int64_t sector = 2 * k_multiple(elements);
  add(few, tiles, [&](std::uint64_t i) {
    return GemmProbe{.m = log_uniform(halton(i, 2), 512, 8192, 1),
                     .n = log_uniform(halton(i, 3), 1024, 16384, n_multiple(elements)),
                     .k = log_uniform(halton(i, 5), 512, 8192, sector) + sector / 2,
                     .elements = elements};
  });
  // Transposed tiles, on shapes that they suit: any number of rows, and of columns.
  const auto transposed = tiles_by_area(platform, elements, true);
  add(transposed.empty() ? 0 : few, transposed, [&](std::uint64_t i) {
    return GemmProbe{.m = log_uniform(halton(i, 2), 128, 8192, 1),
                     .n = log_uniform(halton(i, 3), 1024, 16384, n_multiple(elements)),
                     .k = log_uniform(halton(i, 5), 512, 16384, k_multiple(elements)),
                     .elements = elements};
  });
}

void add_contention(std::vector<Probe>& plan, const Platform& platform,
                    std::span<const Transport> transports, int ranks, ProbeDepth depth,
                    Elements elements) {
  const LinkSizes sizes = link_sizes(platform);
  for (const int ctas : usable_ctas(platform, depth)) {
    if (ctas == 6 || ctas == 24) continue;       // close to the counts beside them
    for (const std::int64_t k : {1024, 8192}) {  // one bound by memory, one by arithmetic
      const GemmProbe gemm{
          .m = 4096, .n = 8192, .k = k, .elements = elements, .sms = platform.sms - ctas};
      plan.emplace_back(gemm);
      for (const Transport transport : transports) {
        if (!is_nccls(transport)) continue;
        for (const auto& [collective, name] : NamesOf<Collective>::all) {
          for (const bool small : {true, false}) {
            if ((small && k == 1024) || (depth == ProbeDepth::quick && (small || k == 1024))) {
              continue;
            }
            const CollectiveProbe probe{collective,
                                        {small ? sizes.beside_small : sizes.beside_large},
                                        ranks,
                                        ctas,
                                        transport};
            if (is_worth_probing(probe)) plan.emplace_back(ConcurrentProbe{gemm, probe});
          }
        }
      }
    }
  }
}

/// Probes of a generated GEMM beside a collective, which slows it otherwise than a library GEMM.
/// There are two tiles: one bound by the tensor cores, and one that its operand loads may bound.
void add_generated_contention(std::vector<Probe>& plan, const Platform& platform,
                              std::span<const Transport> transports, int ranks, ProbeDepth depth,
                              Elements elements) {
  const GpuLimits& limits = gpu_limits(platform.compute_capability);
  std::vector<Tile> tiles;
  for (const auto& [block_m, block_n] : {std::pair{128, 256}, {128, 128}, {64, 64}}) {
    if (const auto tile = deepest({block_m, block_n, 0, 0, 1}, limits, elements)) {
      tiles.push_back(*tile);
    }
  }
  tiles.resize(std::min<std::size_t>(tiles.size(), 2));
  // With 0 CTAs NCCL chooses, and the GEMM has one CTA for each tile.
  const auto add = [&](const Tile& tile, std::int64_t k, int ctas) {
    const GemmProbe gemm{.m = 4096,
                         .n = 8192,
                         .k = k,
                         .elements = elements,
                         .tile = tile,
                         .swizzle = 4,
                         .sms = ctas > 0 ? platform.sms - ctas : 0};
    bool alone = false;
    for (const Transport transport : transports) {
      for (const auto& [collective, name] : NamesOf<Collective>::all) {
        // A generated GEMM that waits for an all_gather has no NCCL beside it.
        if (collective == Collective::all_gather && is_nccls(transport)) continue;
        // Copy engines get a larger buffer of many pieces that move beside each other, so that its
        // end counts little.
        const std::int64_t bytes = transport == Transport::copy_engine
                                       ? std::int64_t{256} << 20
                                       : link_sizes(platform).beside_generated;
        const CollectiveProbe probe{collective, {bytes}, ranks, ctas, transport};
        // Peer access begins to slow a GEMM where it fills the links.
        const bool wanted = ctas == 12  ? transport == Transport::peer_access
                            : ctas == 4 ? !is_nccls(transport)
                            : ctas == 0 ? transport == Transport::ring
                                        : true;
        if (!wanted || !is_worth_probing(probe)) continue;
        if (!std::exchange(alone, true)) plan.emplace_back(gemm);
        plan.emplace_back(ConcurrentProbe{gemm, probe});
      }
    }
  };
  for (const int ctas : {0, 4, 8, 12, 16, 32}) {
    if (ctas >= platform.sms / 2 || ctas > link_sizes(platform).most_ctas) continue;
    for (const std::int64_t k : {1024, 8192}) {
      if (depth == ProbeDepth::quick && (ctas != 16 || k == 1024)) continue;
      add(tiles.front(), k, ctas);
      if (ctas == 16 && depth == ProbeDepth::full) add(tiles.back(), k, ctas);
    }
  }
}

}  // namespace

std::vector<Probe> probe_plan(const Platform& platform, std::span<const Transport> transports,
                              std::span<const int> ranks, ProbeDepth depth,
                              std::span<const Elements> asked) {
  std::set<Elements> classes;
  for (const Elements elements : asked) classes.insert(rate_class_of(elements));
  std::vector<Probe> plan;
  add_launch(plan);
  if (!spans_nodes(platform)) add_copies(plan);  // from neighbour to neighbour
  for (const int count : ranks) add_collectives(plan, platform, transports, count, depth);
  for (const Elements elements : classes) {
    add_library_gemms(plan, platform, depth, elements);
    add_generated_gemms(plan, platform, depth, elements);
    const std::vector<Probe> sustained = sustained_plan(platform, ranks, depth, elements);
    plan.insert(plan.end(), sustained.begin(), sustained.end());
    for (const int count : ranks) {
      add_contention(plan, platform, transports, count, depth, elements);
    }
    for (const int count : ranks) {
      add_generated_contention(plan, platform, transports, count, depth, elements);
    }
  }
  std::set<Probe> seen;
  std::erase_if(plan, [&](const Probe& probe) { return !seen.insert(probe).second; });
  return plan;
}

}  // namespace overlaptune
