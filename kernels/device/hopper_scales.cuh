#pragma once
// Scales of 8-bit operands: a sum is to be multiplied with that of its row of A and that of its
// column of C, before it is rounded or travels.
//
// In the direction down, a thread of a consumer needs those of two rows of wgmmas a part; across it
// needs a quarter of all. It has registers for a few: the lanes of a warp hold them together, as
// pairs of neighbours, and load them when the first step of a tile is there, under the products.
// Where the sums leave no registers even for these, the consumer keeps all in shared memory, which
// it fills before the products, mostly while another consumer multiplies.
//
// Rows of other ranks have their scales with them, so those are loaded when the first step is
// there.

#include "kernels/device/hopper_tile.cuh"

namespace overlaptune::kernels::device {

/// Consecutive scales of one operand; behind the last one, its value.
struct ScaleRange {
  const float* from;
  int stride;
  int count;
  [[nodiscard]] __device__ __forceinline__ float operator[](int index) const {
    return from[(index < count ? index : count - 1) * stride];
  }
};

/// The scales of a consumer's rows of wgmmas, and of their columns, with the first index of each.
struct ScalesHere {
  ScaleRange down;
  ScaleRange across;
  int row;
  int column;
};

/// `first_row`: the consumer's first row of wgmmas in the tile.
template <class K, class Item>
__device__ __forceinline__ ScalesHere scales_here(const Launch<K>& launch, const Item& item,
                                                  int first_row) {
  const ScaleParams& all = launch.scales;
  const bool is_own = all.own_a != nullptr && item.block == all.own_block;
  const i64 before = is_own ? 0 : static_cast<i64>(item.block) * all.rows;
  const ScaleRange a{(is_own ? all.own_a : all.a) + before * all.stride, all.stride, all.rows};
  const ScaleRange b{all.b, all.stride, all.n};
  if (K::kSwapAb) return {b, a, item.column + first_row, item.row};
  return {a, b, item.row + first_row, item.column};
}

/// Multiplies the sums of a part in 8 columns: `left` and `right` are the scales of the thread's
/// two, `upper` and `lower` those of its two rows.
__device__ __forceinline__ void scale(float* sums, float upper, float lower, float left,
                                      float right) {
  sums[0] *= upper * left;
  sums[1] *= upper * right;
  sums[2] *= lower * left;
  sums[3] *= lower * right;
}

/// A consumer's place for scales in shared memory.
template <class K>
struct KeptScales {
  float down[64 * K::kParts];
  alignas(8) float across[K::kAcross];
};
template <class K>
struct AllKeptScales {
  KeptScales<K> of[K::kConsumers];
};

/// Without scales.
template <class K, bool kScaled = K::kScaled, bool kKept = K::kKeepsScales>
struct ScalesOfTile {
  template <class Item>
  __device__ __forceinline__ void before_turn(const Launch<K>&, const Item&, int) {}
  template <class Item>
  __device__ __forceinline__ void before_products(const Launch<K>&, const Item&, int, u32, u32) {}
  template <class Item>
  __device__ __forceinline__ void under_products(const Launch<K>&, const Item&, int) {}
  __device__ __forceinline__ void apply(float (&)[K::kParts][K::kAccumulators], int) const {}
};

/// In registers.
template <class K>
struct ScalesOfTile<K, true, false> {
  static constexpr int kPairs = (K::kAcross / 2 + 31) / 32;  // of a lane

  float down[K::kParts][2];
  float across[kPairs][2];

  template <class Item>
  __device__ __forceinline__ void before_turn(const Launch<K>&, const Item&, int) {}
  template <class Item>
  __device__ __forceinline__ void before_products(const Launch<K>&, const Item&, int, u32, u32) {}
  template <class Item>
  __device__ __forceinline__ void under_products(const Launch<K>& launch, const Item& item,
                                                 int consumer) {
    const int thread = static_cast<int>(threadIdx.x) % 128;
    const ScalesHere here = scales_here(launch, item, first_of<K>(consumer));
    const int row = here.row + thread / 32 * 16 + thread % 32 / 4;
    const int column = here.column + 2 * (thread % 32);
#pragma unroll
    for (int i = 0; i < 2 * K::kParts; ++i) {
      down[i / 2][i % 2] = here.down[row + 64 * (i / 2) + 8 * (i % 2)];
    }
#pragma unroll
    for (int i = 0; i < 2 * kPairs; ++i) {
      across[i / 2][i % 2] = here.across[column + 64 * (i / 2) + i % 2];
    }
  }

  /// By whole warps.
  __device__ __forceinline__ void apply(float (&sums)[K::kParts][K::kAccumulators],
                                        int /*consumer*/) const {
#pragma unroll
    for (int eight = 0; eight < K::kAcross / 8; ++eight) {
      // The lane with this thread's two columns.
      const int holder = eight % 8 * 4 + static_cast<int>(threadIdx.x) % 4;
      const float left = from_lane(across[eight / 8][0], holder);
      const float right = from_lane(across[eight / 8][1], holder);
#pragma unroll
      for (int part = 0; part < K::kParts; ++part) {
        scale(&sums[part][4 * eight], down[part][0], down[part][1], left, right);
      }
    }
  }
};

/// In shared memory.
template <class K>
struct ScalesOfTile<K, true, true> {
  template <class Item>
  __device__ __forceinline__ void before_turn(const Launch<K>& launch, const Item& item,
                                              int consumer) {
    if constexpr (!K::Feed::kWaits) keep(launch, item, consumer);
  }
  /// `full`, `phase`: the barrier of the tile's first step.
  template <class Item>
  __device__ __forceinline__ void before_products(const Launch<K>& launch, const Item& item,
                                                  int consumer, u32 full, u32 phase) {
    if constexpr (K::Feed::kWaits) {
      barrier_wait(full, phase);
      keep(launch, item, consumer);
    }
  }
  template <class Item>
  __device__ __forceinline__ void under_products(const Launch<K>&, const Item&, int) {}

  __device__ __forceinline__ void apply(float (&sums)[K::kParts][K::kAccumulators],
                                        int consumer) const {
    const KeptScales<K>& kept = shared_object<AllKeptScales<K>>().of[consumer];
    const int thread = static_cast<int>(threadIdx.x) % 128;
    const float* const rows = kept.down + thread / 32 * 16 + thread % 32 / 4;
    const float* const columns = kept.across + 2 * (thread % 4);
#pragma unroll
    for (int part = 0; part < K::kParts; ++part) {
      const float upper = rows[64 * part];
      const float lower = rows[64 * part + 8];
#pragma unroll
      for (int eight = 0; eight < K::kAcross / 8; ++eight) {
        scale(&sums[part][4 * eight], upper, lower, columns[8 * eight], columns[8 * eight + 1]);
        __syncwarp();  // no load comes before it: registers are few
      }
    }
  }

 private:
  template <class Item>
  __device__ __forceinline__ void keep(const Launch<K>& launch, const Item& item, int consumer) {
    KeptScales<K>& kept = shared_object<AllKeptScales<K>>().of[consumer];
    const int thread = static_cast<int>(threadIdx.x) % 128;
    const ScalesHere here = scales_here(launch, item, first_of<K>(consumer));
    consumer_barrier(consumer);  // all have multiplied by those of the tile before
    for (int i = thread; i < 64 * K::kParts; i += 128) kept.down[i] = here.down[here.row + i];
    for (int i = thread; i < K::kAcross; i += 128) kept.across[i] = here.across[here.column + i];
    consumer_barrier(consumer);
  }
};

}  // namespace overlaptune::kernels::device
