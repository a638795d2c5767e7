#include "machine/simulator/gemm_execution.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace overlaptune::sim {
namespace {

/// The times at which SMs become free, in ascending order: a window that slides through a buffer.
/// Tiles take nearly equal times, so a tile that ends last was mostly taken last, and insertion
/// from the back moves few entries. A heap would be slower.
class SmQueue {
 public:
  SmQueue(std::size_t sms, double free_at) : sms_(sms), buffer_(sms + kSlide, free_at) {}

  /// Removes the `count` SMs that become free last.
  void shrink(std::size_t count) { sms_ -= count; }

  /// Gives work of `time`, which begins at `earliest` or later, to the SM that is free first, and
  /// returns when it ends.
  double take(double time, double earliest) {
    const double end = std::max(buffer_[first_], earliest) + time;
    ++first_;
    std::size_t at = first_ + sms_ - 1;
    for (; at > first_ && buffer_[at - 1] > end; --at) buffer_[at] = buffer_[at - 1];
    buffer_[at] = end;
    if (first_ == kSlide) {
      std::copy_n(buffer_.begin() + kSlide, sms_, buffer_.begin());
      first_ = 0;
    }
    return end;
  }

 private:
  static constexpr std::size_t kSlide = 1024;
  std::size_t sms_;
  std::size_t first_ = 0;
  std::vector<double> buffer_;
};

/// Appends tiles; merges them with the last run if it has the same time and group.
void append(TileSchedule& schedule, std::int64_t tiles, double time, bool new_group) {
  if (tiles == 0) return;
  if (!new_group && !schedule.runs.empty() && schedule.runs.back().time == time) {
    schedule.runs.back().tiles += tiles;
  } else {
    schedule.runs.push_back({tiles, time});
  }
}

}  // namespace

TileSchedule tile_schedule(const GemmKernel& kernel, const TileTimes& times,
                           std::span<const std::int64_t> group_ends) {
  const TileOrder& order = kernel.order;
  TileSchedule schedule{
      .sms = kernel.sms, .more_sms = kernel.more_sms, .start = times.kernel_start};
  std::size_t group = 0;
  std::int64_t placed = 0;
  bool new_group = true;
  const auto place = [&](std::int64_t tiles, double time) {
    while (tiles > 0) {
      const std::int64_t part = std::min(tiles, group_ends[group] - placed);
      append(schedule, part, time, new_group);
      new_group = false;
      placed += part;
      tiles -= part;
      if (placed == group_ends[group]) {
        schedule.group_runs.push_back(schedule.runs.size());
        new_group = true;
        ++group;
      }
    }
  };
  const std::int64_t swizzle_groups = order.swizzle_groups();
  const std::int64_t columns = order.columns();
  const std::int64_t panels = order.panels_per_block();
  for (std::int64_t swizzle = 0; swizzle < swizzle_groups; ++swizzle) {
    const std::int64_t tall =
        std::min<std::int64_t>(order.swizzle, panels - swizzle * order.swizzle);
    const std::int64_t bottom = swizzle + 1 == swizzle_groups ? order.blocks : 0;
    const std::int64_t whole = tall * order.blocks - bottom;
    if (bottom == 0 || times.bottom == times.whole) {
      place((whole + bottom) * (columns - 1), times.whole);
    } else {
      for (std::int64_t column = 0; column + 1 < columns; ++column) {
        place(whole, times.whole);
        place(bottom, times.bottom);
      }
    }
    place(whole, times.right);
    place(bottom, times.corner);
  }
  return schedule;
}

std::vector<double> execute(const TileSchedule& schedule, double spread, const Noise& noise,
                            std::span<const double> arrivals) {
  SmQueue queue(static_cast<std::size_t>(schedule.sms + schedule.more_sms), schedule.start);
  std::vector<double> ends;
  ends.reserve(schedule.group_runs.size());
  std::uint64_t tile = 0;
  std::size_t run = 0;
  for (const std::size_t last : schedule.group_runs) {
    double end = 0;
    const double earliest = arrivals.empty() ? 0 : arrivals[ends.size()];
    for (; run < last; ++run) {
      const TileRun& tiles = schedule.runs[run];
      // Drawn ahead of the queue, whose branches a processor cannot foresee: each wrong guess would
      // hold up the numbers as well.
      std::array<double, 64> times;
      for (std::int64_t left = tiles.tiles; left > 0;) {
        const auto count = std::min<std::size_t>(times.size(), static_cast<std::size_t>(left));
        for (std::size_t i = 0; i < count; ++i) {
          times[i] = tiles.time * (1 + spread * noise.normal(tile++));
        }
        for (std::size_t i = 0; i < count; ++i) {
          end = std::max(end, queue.take(times[i], earliest));
        }
        left -= static_cast<std::int64_t>(count);
      }
    }
    if (ends.empty()) queue.shrink(static_cast<std::size_t>(schedule.more_sms));
    ends.push_back(end);
  }
  return ends;
}

GemmKernel library_kernel(const Profile& profile, Elements elements, int blocks, std::int64_t rows,
                          std::int64_t n, std::int64_t k, int sms) {
  GemmKernel best;
  double best_time = std::numeric_limits<double>::infinity();
  for (Tile tile : profile.library.menu) {
    tile.block_k = block_k_of(elements);
    const GemmKernel kernel{.order = {.block_rows = rows,
                                      .n = n,
                                      .blocks = blocks,
                                      .block_m = tile.block_m,
                                      .block_n = tile.block_n,
                                      .swizzle = std::max(1, profile.library.swizzle / blocks),
                                      .elements = elements},
                            .k = k,
                            .tile = tile,
                            .sms = sms,
                            .library = true};
    const std::int64_t rounds = (kernel.order.tiles() + sms - 1) / sms;
    const double time = static_cast<double>(rounds) * tile_times(profile, kernel).whole;
    if (time < best_time) {
      best_time = time;
      best = kernel;
    }
  }
  return best;
}

}  // namespace overlaptune::sim
