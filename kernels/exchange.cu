#include <algorithm>

#include "kernels/exchange.hpp"
#include "kernels/launch.cuh"

namespace overlaptune::kernels {
namespace {

constexpr int kThreads = 1024;
/// Loads of one thread that are under way at once: even few CTAs must keep the memory busy.
constexpr int kAhead = 8;
constexpr std::int64_t kVector = sizeof(uint4);

/// `Rows`, counted in vectors of 16 bytes.
struct Vectors {
  uint4* to;
  const uint4* from;
  std::uint32_t columns;
  std::uint32_t all;  // vectors of one block
  std::int64_t stride;
  std::int64_t to_block;
  std::int64_t from_block;
};

__global__ void __launch_bounds__(kThreads, 1) exchange_move(Vectors of) {
  uint4* const to = of.to + blockIdx.y * of.to_block;
  const uint4* const from = of.from + blockIdx.y * of.from_block;
  const auto place = [&](std::int64_t at) {
    const auto index = static_cast<std::uint32_t>(at);
    const std::uint32_t row = index / of.columns;
    return to + row * of.stride + (index - row * of.columns);
  };
  const std::int64_t step = std::int64_t{gridDim.x} * kThreads;
  std::int64_t at = std::int64_t{blockIdx.x} * kThreads + threadIdx.x;
  for (; at + (kAhead - 1) * step < of.all; at += kAhead * step) {
    uint4 loaded[kAhead];
#pragma unroll
    for (int i = 0; i < kAhead; ++i) loaded[i] = __ldcs(from + at + i * step);
#pragma unroll
    for (int i = 0; i < kAhead; ++i) *place(at + i * step) = loaded[i];
  }
  for (; at < of.all; at += step) *place(at) = __ldcs(from + at);
}

}  // namespace

cudaError_t move(cudaStream_t stream, const Rows& rows, int ctas) {
  const std::int64_t vectors = rows.rows * rows.row_bytes / kVector;
  if (vectors < 1 || rows.blocks < 1) return cudaSuccess;
  // No more CTAs than have work for `kAhead` loads of each thread.
  constexpr std::int64_t kShare = kThreads * kAhead;
  const std::int64_t needed = (vectors + kShare - 1) / kShare;
  const auto blocks = static_cast<unsigned>(rows.blocks);
  const auto each = static_cast<unsigned>(std::clamp<std::int64_t>(ctas / rows.blocks, 1, needed));
  return launch(stream, {dim3(each, blocks), kThreads}, exchange_move,
                Vectors{.to = static_cast<uint4*>(rows.to),
                        .from = static_cast<const uint4*>(rows.from),
                        .columns = static_cast<std::uint32_t>(rows.row_bytes / kVector),
                        .all = static_cast<std::uint32_t>(vectors),
                        .stride = rows.stride / kVector,
                        .to_block = rows.to_block / kVector,
                        .from_block = rows.from_block / kVector});
}

}  // namespace overlaptune::kernels
