#include "core/config/group_sizes.hpp"

#include "core/config/comm_ctas.hpp"
#include "core/config/strategies.hpp"

namespace overlaptune {
namespace {

std::vector<GroupSize> sizes_of(const TiledWork& tiled) {
  std::vector<GroupSize> sizes;
  Cut begin{};
  for (const Cut& end : tiled.cuts) {
    sizes.push_back({.bytes = end.bytes - begin.bytes, .tiles = end.tiles - begin.tiles});
    begin = end;
  }
  return sizes;
}

std::vector<GroupSize> sizes_of(const ChunkedWork& chunked, const Problem& problem) {
  const std::int64_t row_bytes = collective_bytes(problem).count / problem.m;
  std::vector<GroupSize> sizes;
  for (const std::int64_t rows : chunked.rows) {
    sizes.push_back({.bytes = {rows * row_blocks(problem) * row_bytes}});
  }
  return sizes;
}

}  // namespace

std::vector<GroupSize> group_sizes(const Work& work) {
  const StrategyTraits& traits = traits_of(work.strategy());
  const Config& config = work.config();
  std::vector<GroupSize> sizes = traits.gemm == GemmFamily::generated
                                     ? sizes_of(work.tiled())
                                     : sizes_of(work.chunked(), work.problem());
  if (!traits.collective_per_group) return sizes;
  for (GroupSize& size : sizes) size.ctas = comm_ctas(config);
  // A last group by another transport leaves the number to NCCL.
  if (last_transport_of(config) != transport_of(config)) sizes.back().ctas = kNcclsChoice;
  return sizes;
}

}  // namespace overlaptune
