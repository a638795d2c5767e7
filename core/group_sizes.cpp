#include "core/group_sizes.hpp"

#include "core/strategies.hpp"

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

std::vector<GroupSize> sizes_of(const TiledWork& tiled, const Signaled& config) {
  std::vector<GroupSize> sizes = sizes_of(tiled);
  for (GroupSize& size : sizes) size.ctas = config.comm_ctas;
  // A last group by another transport leaves the number to NCCL.
  if (config.transport.last != config.transport.beside_gemm) sizes.back().ctas = kNcclsChoice;
  return sizes;
}

std::vector<GroupSize> sizes_of(const ChunkedWork& chunked, const Work& work) {
  const Problem& problem = work.problem();
  const std::int64_t row_bytes = collective_bytes(problem).count / problem.m;
  std::vector<GroupSize> sizes;
  for (const std::int64_t rows : chunked.rows) {
    sizes.push_back(
        {.bytes = {rows * row_blocks(problem) * row_bytes}, .ctas = comm_ctas(work.config())});
  }
  return sizes;
}

}  // namespace

std::vector<GroupSize> group_sizes(const Work& work) {
  if (work.strategy() == Strategy::signaled) {
    return sizes_of(work.tiled(), work.config_as<Signaled>());
  }
  if (traits_of(work.strategy()).gemm == GemmFamily::generated) return sizes_of(work.tiled());
  return sizes_of(work.chunked(), work);
}

}  // namespace overlaptune
