#include "machine/worker/reference_rows.hpp"

#include <utility>

namespace overlaptune::cuda {

std::vector<RowSource> row_sources(const Problem& problem, int me,
                                   const std::vector<std::int64_t>& checked) {
  const std::int64_t block = problem.m / row_blocks(problem);
  std::vector<RowSource> list;
  const OpTraits& op = traits_of(problem.op);
  if (op.sums) {
    // The result is summed over all ranks. Row r may be that of this rank's block.
    const std::int64_t shift = op.c_is_block ? me * block : 0;
    for (int rank = 0; rank < problem.ranks; ++rank) {
      RowSource source{.rank = rank, .owner_of_b = rank};
      for (const std::int64_t row : checked) source.rows.push_back(row + shift);
      list.push_back(std::move(source));
    }
    return list;
  }
  // Row block i of the result comes from rank i: all rows of its A, or the block that it has for
  // this rank. Rows of A that came first are multiplied here, rows of C were multiplied there.
  const std::int64_t shift = op.a_is_block ? 0 : me * block;
  for (std::size_t i = 0; i < checked.size(); ++i) {
    const auto rank = static_cast<int>(checked[i] / block);
    if (list.empty() || list.back().rank != rank) {
      list.push_back(
          {.rank = rank, .owner_of_b = op.exchanges_first ? me : rank, .first = i, .rows = {}});
    }
    list.back().rows.push_back(checked[i] % block + shift);
  }
  return list;
}

}  // namespace overlaptune::cuda
