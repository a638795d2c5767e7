// Copies within one GPU, on SMs that are free.

#include <algorithm>
#include <numeric>

#include "gpu.hpp"
#include "kernels/exchange.hpp"

namespace overlaptune::run {
namespace {

using Element = std::uint16_t;

class Move : public GpuTest {
 protected:
  /// A matrix of `size` zeros after a move of `rows`, whose addresses are set here.
  std::vector<Element> moved(kernels::Rows rows, std::size_t stored, std::size_t size, int ctas) {
    std::vector<Element> values(stored);
    std::iota(values.begin(), values.end(), Element{1});
    const DeviceMemory from = device_memory(stored * sizeof(Element));
    const DeviceMemory to = device_memory(size * sizeof(Element));
    OVT_CHECK(cudaMemsetAsync(to.get(), 0, size * sizeof(Element), stream()));
    OVT_CHECK(cudaMemcpyAsync(from.get(), values.data(), stored * sizeof(Element),
                              cudaMemcpyHostToDevice, stream()));
    rows.from = from.get();
    rows.to = to.get();
    OVT_CHECK(kernels::move(stream(), rows, ctas));
    return on_host<Element>(to.get(), size);
  }
};

TEST_F(Move, rows_of_every_block_come_to_their_places) {
  // One CTA and several; with loads ahead and without.
  for (const std::int64_t columns : {8, 24, 1000, 4096}) {
    for (const int ctas : {1, 7, 1024}) {
      constexpr std::int64_t kRows = 137;
      constexpr int kBlocks = 3;
      const std::int64_t stride = columns + 16;
      const std::int64_t to_block = stride * (kRows + 3);
      const std::int64_t from_block = columns * kRows + 8;
      constexpr std::int64_t kBytes = sizeof(Element);
      const kernels::Rows rows{.row_bytes = columns * kBytes,
                               .rows = kRows,
                               .stride = stride * kBytes,
                               .blocks = kBlocks,
                               .to_block = to_block * kBytes,
                               .from_block = from_block * kBytes};
      const auto stored = static_cast<std::size_t>(from_block * kBlocks);
      const auto size = static_cast<std::size_t>(to_block * kBlocks);
      std::vector<Element> expected(size, 0);
      for (int block = 0; block < kBlocks; ++block) {
        for (std::int64_t row = 0; row < kRows; ++row) {
          for (std::int64_t column = 0; column < columns; ++column) {
            const std::int64_t at = block * from_block + row * columns + column;
            expected[static_cast<std::size_t>(block * to_block + row * stride + column)] =
                static_cast<Element>(at + 1);
          }
        }
      }
      const std::vector<Element> found = moved(rows, stored, size, ctas);
      const auto wrong = std::mismatch(found.begin(), found.end(), expected.begin());
      EXPECT_EQ(wrong.first, found.end())
          << columns << " columns, " << ctas << " CTAs: element " << wrong.first - found.begin()
          << " of " << size << " is " << *wrong.first << ", expected " << *wrong.second;
    }
  }
}

TEST_F(Move, nothing_is_moved_where_there_is_nothing) {
  EXPECT_EQ(moved({.row_bytes = 0}, 8, 8, 1024), std::vector<Element>(8, 0));
  EXPECT_EQ(moved({.row_bytes = 16, .rows = 0}, 8, 8, 1024), std::vector<Element>(8, 0));
}

}  // namespace
}  // namespace overlaptune::run
