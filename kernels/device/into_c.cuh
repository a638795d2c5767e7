#pragma once
// Epilogue: each tile goes into C, which one matrix or several hold.

#include "kernels/device/tile_pushes.cuh"

namespace overlaptune::kernels::device {

/// For launches of at most `kSegments` segments. Each wave group has a counter; it is incremented
/// when one of the group's tiles is in memory.
template <int kSegments>
struct IntoC {
  using Params = IntoCParams<kSegments>;
  static constexpr bool kAtRanks = false;
  static constexpr int kRanks = 0;

  /// The work of the warp that stores C for one consumer; one thread of it does all.
  template <class K>
  static __device__ __forceinline__ void deliver(const Launch<K>& launch, int consumer,
                                                 Items<K>& items,
                                                 [[maybe_unused]] const Stages& stages,
                                                 const Buffers& buffers) {
    if (lane_of_warp() != 0) return;
    const Order& order = launch.order;
    const Params& into = launch.epilogue;
    u32 pass = 0;
    int segment = 0;
    for (u32 number = K::kPingPong ? consumer : 0;; number += kStride<K>) {
      if constexpr (K::Feed::kTilesPush) push_item(launch, consumer, items, number, stages);
      const Item item = taken(items, number);
      if (item.what == kEnd) break;
      if constexpr (K::Feed::kWaits) {
        if (item.what == kPush) {  // its consumer stores it
          give_back_half(items, number);
          continue;
        }
      }
      if (item.what == kTwin) {  // the last item but the end
        give_back(items, number);
        continue;
      }
      while (kSegments > 1 && item.index >= into.segments[segment].end) ++segment;
      const Segment& part = into.segments[kSegments > 1 ? segment : 0];
      Place first = first_subtile<K>({item.block, item.row, item.column}, consumer);
      first.row -= part.first_row;
      first.column -= part.first_column;
      for (int subtile = 0; subtile < K::kSubtilesOfConsumer; ++subtile) {
        const u32 buffer = buffer_of<K>(pass, subtile);
        barrier_wait(buffers.filled + 8 * buffer, uses_before<K>(pass, subtile) & 1);
        if (stores<K>(order, subtile)) {
          const Place at = place_of_subtile<K>(first, subtile);
          store(&into.c[kSegments > 1 ? segment : 0], buffers.subtiles + buffer * K::kSubtileBytes,
                at.column, at.row, at.block);
        }
        end_stores();
        // The last one that no store reads any more, soon.
        const int read = subtile - (K::kBuffers - 1);
        if (read >= 0) {
          wait_for_reads<K::kBuffers - 1>();
          barrier_arrive(buffers.free + 8 * buffer_of<K>(pass, read));
        }
      }
      give_back(items, number);
      wait_for_reads<0>();
      for (int subtile = K::kSubtilesOfConsumer - (K::kBuffers - 1);
           subtile < K::kSubtilesOfConsumer; ++subtile) {
        barrier_arrive(buffers.free + 8 * buffer_of<K>(pass, subtile));
      }
      ++pass;
      if (order.counters != nullptr) {
        // Waits until the subtiles are in memory, not only read; then signals to the whole system.
        // The consumers do not wait for this.
        wait_for_stores<0>();
        increment(order.counters + part.counter, static_cast<u32>(order.signal));
      }
    }
    wait_for_stores<0>();
  }
};

}  // namespace overlaptune::kernels::device
