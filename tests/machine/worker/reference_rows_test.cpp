// The rows from which references are computed, beside exchanges that are carried out with labels in
// place of numbers.

#include "machine/worker/reference_rows.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>

#include <gtest/gtest.h>

namespace overlaptune::cuda {
namespace {

constexpr int kRanks = 3;
constexpr int kBlock = 4;

/// A row of a rank's A, times some rank's B.
struct Product {
  int rank = 0;
  int row = 0;
  int owner_of_b = 0;
  friend auto operator<=>(const Product&, const Product&) = default;
};

/// Each row of a matrix is a sum of such products.
using Matrix = std::vector<std::multiset<Product>>;
using Matrices = std::array<Matrix, kRanks>;

/// The matrices after an all-to-all: row block j of rank i's is row block i of rank j's.
Matrices exchanged(const Matrices& sent) {
  Matrices received;
  for (int me = 0; me < kRanks; ++me) {
    for (const Matrix& from : sent) {
      const auto begin = from.begin() + me * kBlock;
      auto& mine = received[static_cast<std::size_t>(me)];
      mine.insert(mine.end(), begin, begin + kBlock);
    }
  }
  return received;
}

/// The rows of each rank's A, which no B has met yet (-1).
Matrices rows_of_each(int rows) {
  Matrices all;
  for (int rank = 0; rank < kRanks; ++rank) {
    for (int row = 0; row < rows; ++row) {
      all[static_cast<std::size_t>(rank)].push_back({Product{rank, row, -1}});
    }
  }
  return all;
}

/// The products that the GEMM of each rank makes of its rows.
Matrices multiplied(const Matrices& rows) {
  Matrices products;
  for (int me = 0; me < kRanks; ++me) {
    for (const auto& row : rows[static_cast<std::size_t>(me)]) {
      const Product& one = *row.begin();
      products[static_cast<std::size_t>(me)].push_back({Product{one.rank, one.row, me}});
    }
  }
  return products;
}

Matrices gathered(const Matrices& blocks) {
  Matrix all;
  for (const Matrix& block : blocks) all.insert(all.end(), block.begin(), block.end());
  return {all, all, all};
}

Matrices summed(const Matrices& parts) {
  Matrix sums(parts[0].size());
  for (const Matrix& part : parts) {
    for (std::size_t row = 0; row < sums.size(); ++row) {
      sums[row].insert(part[row].begin(), part[row].end());
    }
  }
  return {sums, sums, sums};
}

Matrices scattered(const Matrices& whole) {
  Matrices blocks;
  for (int me = 0; me < kRanks; ++me) {
    const auto begin = whole[static_cast<std::size_t>(me)].begin() + me * kBlock;
    blocks[static_cast<std::size_t>(me)] = {begin, begin + kBlock};
  }
  return blocks;
}

/// Each op as the header of the C interface defines it.
std::map<Op, Matrices> results() {
  const Matrices whole = rows_of_each(kRanks * kBlock);
  return {{Op::gemm_all_reduce, summed(multiplied(whole))},
          {Op::gemm_reduce_scatter, scattered(summed(multiplied(whole)))},
          {Op::all_gather_gemm, multiplied(gathered(rows_of_each(kBlock)))},
          {Op::gemm_all_to_all, exchanged(multiplied(whole))},
          {Op::all_to_all_gemm, multiplied(exchanged(whole))}};
}

/// The result of one rank, of those rows that are checked.
std::map<std::int64_t, std::multiset<Product>> reference(Op op, int me,
                                                         const std::vector<std::int64_t>& checked) {
  const Problem problem{.op = op, .m = kRanks * kBlock, .n = 8, .k = 8, .ranks = kRanks};
  std::map<std::int64_t, std::multiset<Product>> rows;
  for (const RowSource& source : row_sources(problem, me, checked)) {
    for (std::size_t i = 0; i < source.rows.size(); ++i) {
      rows[checked.at(source.first + i)].insert(
          {source.rank, static_cast<int>(source.rows[i]), source.owner_of_b});
    }
  }
  return rows;
}

TEST(ReferenceRows, are_those_that_the_exchange_of_the_op_brings) {
  const auto expected = results();
  ASSERT_EQ(expected.size(), NamesOf<Op>::all.size());
  for (const auto& [op, matrices] : expected) {
    for (int me = 0; me < kRanks; ++me) {
      const Matrix& result = matrices[static_cast<std::size_t>(me)];
      std::vector<std::int64_t> all(result.size());
      std::iota(all.begin(), all.end(), std::int64_t{0});
      for (const auto& checked : {all, std::vector<std::int64_t>{1, 3}}) {
        const auto rows = reference(op, me, checked);
        ASSERT_EQ(rows.size(), checked.size()) << to_string(op);
        for (const std::int64_t row : checked) {
          EXPECT_EQ(rows.at(row), result[static_cast<std::size_t>(row)])
              << to_string(op) << ", rank " << me << ", row " << row;
        }
      }
    }
  }
}

/// By hand: rank 2 of three gets its block, rows 8 to 11, of every rank, and has its own B.
TEST(ReferenceRows, of_all_to_all_gemm_by_hand) {
  const Problem problem{.op = Op::all_to_all_gemm, .m = 12, .n = 8, .k = 8, .ranks = 3};
  const auto sources = row_sources(problem, 2, {0, 3, 4, 11});
  ASSERT_EQ(sources.size(), 3U);
  EXPECT_EQ(sources[0].rank, 0);
  EXPECT_EQ(sources[0].rows, (std::vector<std::int64_t>{8, 11}));
  EXPECT_EQ(sources[1].rank, 1);
  EXPECT_EQ(sources[1].rows, (std::vector<std::int64_t>{8}));
  EXPECT_EQ(sources[2].rank, 2);
  EXPECT_EQ(sources[2].rows, (std::vector<std::int64_t>{11}));
  for (const RowSource& source : sources) EXPECT_EQ(source.owner_of_b, 2);
}

}  // namespace
}  // namespace overlaptune::cuda
