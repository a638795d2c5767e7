// Exchanges by peer access: all ranks on one GPU, each on a stream of its own.

#include "kernels/peer_exchange.hpp"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <random>
#include <thread>

#include "core/base/units.hpp"
#include "gpu.hpp"
#include "ranks_on_one_gpu.hpp"

namespace overlaptune::run {
namespace {

using kernels::PeerExchange;
using kernels::PeerPiece;

/// Small whole numbers: every sum is exact in either type, in whatever order.
template <class T>
struct Matrix {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<int> values{};

  Matrix(std::int64_t row_count, std::int64_t column_count, int value = 0)
      : rows(row_count),
        columns(column_count),
        values(static_cast<std::size_t>(row_count * column_count), value) {}

  int& at(std::int64_t row, std::int64_t column) {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
  [[nodiscard]] std::vector<T> elements() const {
    std::vector<T> list;
    for (const int value : values) list.push_back(T(static_cast<float>(value)));
    return list;
  }
};

/// Whole rows, then the rest of them in two parts side by side.
std::vector<PeerPiece> pieces_of(std::int64_t rows, std::int64_t n) {
  const auto above = static_cast<std::int32_t>(rows / 2);
  const auto left = static_cast<std::int32_t>(n / 24 * 8);
  const auto below = static_cast<std::int32_t>(rows) - above;
  const auto right = static_cast<std::int32_t>(n) - left;
  return {{.rows = above, .columns = static_cast<std::int32_t>(n), .counter = 0, .value = 3},
          {.first_row = above, .rows = below, .columns = left, .counter = 1, .value = 1},
          {.first_row = above,
           .rows = below,
           .first_column = left,
           .columns = right,
           .counter = 2,
           .value = 7}};
}

class PeerAccess : public GpuTest {
 protected:
  /// Runs the exchange twice, on matrices that are complete only when the counters say so.
  /// With `places`, each rank has its matrix at another place of its memory in each round, and the
  /// others learn of it from the gate.
  template <class T>
  void check(Collective collective, int ranks, std::int64_t block_rows, std::int64_t n,
             bool places = false) {
    constexpr std::size_t kUnit = kernels::device::kPlaceBytes;
    constexpr std::size_t kMostPlaces = 64;
    std::array<std::uint32_t, kernels::RankFlags::kMostRanks> place{};
    const bool sums_all = collective == Collective::all_reduce;
    const std::int64_t rows = sums_all ? block_rows : ranks * block_rows;
    const std::int64_t result_rows = collective == Collective::reduce_scatter ? block_rows : rows;
    const auto bytes = static_cast<std::size_t>(rows * n * static_cast<std::int64_t>(sizeof(T)));
    const std::size_t result_bytes =
        static_cast<std::size_t>(result_rows * n * static_cast<std::int64_t>(sizeof(T)));
    const std::vector<PeerPiece> pieces = pieces_of(block_rows, n);
    const RanksOnOneGpu barriers(ranks);
    PeerExchange exchange{.collective = collective,
                          .dtype = std::is_same_v<T, __half> ? Dtype::fp16 : Dtype::bf16,
                          .n = n,
                          .block_rows = block_rows};
    std::vector<DeviceMemory> memory;
    std::vector<Stream> streams;
    const auto zeroed = [&](std::size_t size) {
      memory.push_back(device_memory(size));
      OVT_CHECK(cudaMemset(memory.back().get(), 0, size));
      return memory.back().get();
    };
    std::vector<void*> results;
    std::vector<std::byte*> begins;
    for (int rank = 0; rank < ranks; ++rank) {
      const auto r = static_cast<std::size_t>(rank);
      begins.push_back(static_cast<std::byte*>(zeroed(bytes + kMostPlaces * kUnit)));
      exchange.matrices[r] = begins.back();
      results.push_back(sums_all ? exchange.matrices[r] : zeroed(result_bytes));
      streams.push_back(make_stream());
    }
    OVT_CHECK(cudaDeviceSynchronize());
    std::mt19937 random(7);
    for (int round = 0; round < 2; ++round) {
      std::vector<Matrix<T>> inputs;
      for (int rank = 0; rank < ranks; ++rank) {
        const auto r = static_cast<std::size_t>(rank);
        if (places) place[r] = static_cast<std::uint32_t>(random() % kMostPlaces);
        void* const matrix = begins[r] + place[r] * kUnit;
        if (results[r] == exchange.matrices[r]) results[r] = matrix;
        exchange.matrices[r] = matrix;
        inputs.emplace_back(rows, n);
        for (int& value : inputs.back().values) value = static_cast<int>(random() % 17) - 8;
        OVT_CHECK(cudaMemset(exchange.matrices[static_cast<std::size_t>(rank)], 0xff, bytes));
      }
      OVT_CHECK(cudaDeviceSynchronize());
      for (int rank = 0; rank < ranks; ++rank) {
        // Ranks with odd numbers have it in the other part of their memory.
        const std::uint32_t own_place =
            places ? kernels::device::placed_in(static_cast<std::uint32_t>(rank % 2),
                                                place[static_cast<std::size_t>(rank)])
                   : kernels::device::kNoPlace;
        PeerExchange told = exchange;
        for (int peer = 0; places && peer < ranks; ++peer) {
          const auto p = static_cast<std::size_t>(peer);
          if (peer == rank) continue;
          told.matrices[p] = peer % 2 == 0 ? begins[p] : nullptr;
          told.results[p] = peer % 2 == 0 ? nullptr : begins[p];
        }
        told.barrier = barriers.barrier(rank, own_place);
        void* const own_result = results[static_cast<std::size_t>(rank)];
        told.result = sums_all ? nullptr : own_result;
        const cudaStream_t own = streams[static_cast<std::size_t>(rank)].get();
        barriers.enqueue_gate(own, rank, own_place);
        OVT_CHECK(kernels::exchange(own, told, pieces, 3 - round));
      }
      // The gates have reset the counters once the first of them has let its rank through.
      while (on_host<std::uint64_t>(&barriers.flags_of_rank(ranks - 1)->ready[0], 1).front() !=
             static_cast<std::uint64_t>(round + 1)) {
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
      for (int rank = ranks; rank-- > 0;) {
        const auto r = static_cast<std::size_t>(rank);
        const std::vector<T> elements = inputs[r].elements();
        OVT_CHECK(cudaMemcpyAsync(exchange.matrices[r], elements.data(), bytes,
                                  cudaMemcpyHostToDevice, stream()));
        OVT_CHECK(cudaStreamSynchronize(stream()));
        const std::uint32_t counters[3] = {3, 2, 7};
        OVT_CHECK(cudaMemcpyAsync(barriers.flags_of_rank(static_cast<int>(r))->counters, counters,
                                  sizeof counters, cudaMemcpyHostToDevice, stream()));
        OVT_CHECK(cudaStreamSynchronize(stream()));
      }
      for (const Stream& each : streams) OVT_CHECK(cudaStreamSynchronize(each.get()));
      for (int rank = 0; rank < ranks; ++rank) {
        Matrix<T> expected(result_rows, n);
        for (std::int64_t row = 0; row < result_rows; ++row) {
          for (std::int64_t column = 0; column < n; ++column) {
            int& value = expected.at(row, column);
            if (collective == Collective::all_to_all) {
              auto& from = inputs[static_cast<std::size_t>(row / block_rows)];
              value = from.at(rank * block_rows + row % block_rows, column);
              continue;
            }
            for (Matrix<T>& from : inputs) {
              value += from.at((sums_all ? 0 : rank * block_rows) + row, column);
            }
          }
        }
        const auto found =
            on_host<T>(results[static_cast<std::size_t>(rank)], expected.values.size());
        std::size_t wrong = 0;
        for (std::size_t i = 0; i < found.size(); ++i) {
          wrong += static_cast<float>(found[i]) != static_cast<float>(expected.values[i]) ? 1 : 0;
        }
        EXPECT_EQ(wrong, 0u) << to_string(collective) << ", " << ranks << " ranks, round " << round
                             << ", rank " << rank;
      }
    }
  }
};

TEST_F(PeerAccess, every_element_comes_to_its_place_whatever_the_ranks_and_the_pieces) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_to_all}) {
    for (const int ranks : {2, 3, 4, 8}) {
      check<__nv_bfloat16>(collective, ranks, 37, 1096);
      check<__half>(collective, ranks, 2, 24);
    }
    check<__nv_bfloat16>(collective, 4, 700, 512);
  }
}

TEST_F(PeerAccess, each_rank_has_its_matrix_at_a_place_of_its_own) {
  for (const Collective collective :
       {Collective::all_reduce, Collective::reduce_scatter, Collective::all_to_all}) {
    for (const int ranks : {2, 3, 4}) {
      check<__nv_bfloat16>(collective, ranks, 37, 1096, true);
    }
  }
}

}  // namespace
}  // namespace overlaptune::run
