#pragma once
// The best partition of a signaled GEMM's waves into groups. Times are microseconds.

#include <algorithm>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "model/curve.hpp"
#include "model/overlap.hpp"

namespace overlaptune {

/// A cut: a place where the GEMM may be divided.
struct CutPoint {
  double bytes = 0;  ///< bytes of the collective up to here
  bool contiguous = true;
};

/// The time of copying a staged group into place, after its collective.
struct Reorder {
  double start = 0;
  double per_byte = 0;       ///< for each byte of the collective
  double last_per_byte = 0;  ///< the same in the last group, when the GEMM has ended

  [[nodiscard]] double time(double bytes, bool is_last) const {
    return start + bytes * (is_last ? last_per_byte : per_byte);
  }
};

struct PartitionProblem {
  double start = 0;                   ///< when the GEMM starts
  std::span<const CutPoint> cuts{};   ///< [0] is the start (0 bytes, contiguous), then ascending
  const Curve* collective = nullptr;  ///< time of a group's collective against its bytes
  const Curve* last = nullptr;        ///< the same for the last group; null: as the others
  double least_last = 0;              ///< least time of the last group, without `shared`
  double shared = 0;  ///< part of each group's time that it shares with the next group; not counted
  double first_more = 0;  ///< additional time of the first group
  Reorder reorder{};      ///< additional time of groups that are not contiguous
  OverlapRates rates{};
  /// Time of the GEMM alone up to `cut`, if the first group ends at `first` <= `cut`. It is
  /// non-decreasing in `cut`, and in `first` where both are equal.
  std::function<double(std::size_t first, std::size_t cut)> produced{};

  /// Time of the collective (alone) of the group from cut `begin` to cut `end`, with its copy into
  /// place.
  [[nodiscard]] double group_time(std::size_t begin, std::size_t end) const {
    const Curve& curve = last != nullptr && end + 1 == cuts.size() ? *last : *collective;
    return group_time(begin, end, curve(cuts[end].bytes - cuts[begin].bytes));
  }
  /// Time of the group from cut `begin` to cut `end`, with a collective that takes `exchange`.
  [[nodiscard]] double group_time(std::size_t begin, std::size_t end, double exchange) const {
    const bool contiguous = cuts[begin].contiguous && cuts[end].contiguous;
    const bool is_last = end + 1 == cuts.size();
    const double bytes = cuts[end].bytes - cuts[begin].bytes;
    const double time = exchange - shared + (contiguous ? 0 : reorder.time(bytes, is_last)) +
                        (begin == 0 ? first_more : 0);
    return is_last ? std::max(time, least_last) : time;
  }
};

struct Partition {
  /// Time at which the last group ends.
  double time = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> ends{};  ///< the cut that ends each group; the last is cuts.size() - 1
};

/// The pieces of a partition, for `overlap`.
[[nodiscard]] std::vector<Piece> pieces(const PartitionProblem& problem,
                                        std::span<const std::size_t> ends);

/// The partition of least time, if its time is under `limit`; else `ends` is empty. Dynamic
/// programming over the cuts keeps, at each cut, every state that no other one is ahead of. It is
/// exact under `overlap`; where a gap is shorter than the
/// trigger, it may lose the difference. Quadratic in the cuts before pruning.
[[nodiscard]] Partition best_partition(const PartitionProblem& problem,
                                       double limit = std::numeric_limits<double>::infinity());

}  // namespace overlaptune
