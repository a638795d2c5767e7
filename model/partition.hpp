#pragma once
// The best partition of a signaled GEMM's waves into groups. Times are microseconds.

#include <algorithm>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "model/curve.hpp"
#include "model/overlap.hpp"

namespace overlaptune {

/// A place where the GEMM may be cut.
struct CutPoint {
  double bytes = 0;  ///< the collective's up to here
  bool contiguous = true;
};

/// Copying a staged group into place, after its collective.
struct Reorder {
  double start = 0;
  double per_byte = 0;       ///< for each byte of the collective
  double last_per_byte = 0;  ///< for those of the last group: the GEMM has ended

  [[nodiscard]] double time(double bytes, bool is_last) const {
    return start + bytes * (is_last ? last_per_byte : per_byte);
  }
};

struct PartitionProblem {
  double start = 0;                   ///< when the GEMM starts
  std::span<const CutPoint> cuts{};   ///< [0] is the start (0, true), then ascending
  const Curve* collective = nullptr;  ///< time of a group's collective against its bytes
  const Curve* last = nullptr;        ///< the last group's, if it has one of its own
  double least_last = 0;              ///< what the last group takes at least, but for `shared`
  double shared = 0;                  ///< time that a group shares with the next one: not counted
  double first_more = 0;              ///< what the first group takes besides
  Reorder reorder{};                  ///< what groups that are not contiguous take besides
  OverlapRates rates{};
  /// GEMM time (alone) up to `cut` when the first group ends at `first` <= `cut`. It does not fall
  /// in `cut`, nor in `first` where both are the same.
  std::function<double(std::size_t first, std::size_t cut)> produced{};

  /// Consumption of the group after cut `begin` up to cut `end`.
  [[nodiscard]] double group_time(std::size_t begin, std::size_t end) const {
    const double bytes = cuts[end].bytes - cuts[begin].bytes;
    const bool contiguous = cuts[begin].contiguous && cuts[end].contiguous;
    const bool is_last = end + 1 == cuts.size();
    const Curve& curve = last != nullptr && is_last ? *last : *collective;
    const double time = curve(bytes) - shared + (contiguous ? 0 : reorder.time(bytes, is_last)) +
                        (begin == 0 ? first_more : 0);
    return is_last ? std::max(time, least_last) : time;
  }
};

struct Partition {
  /// To the end of the last group.
  double time = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> ends{};  ///< the cut that ends each group; the last is cuts.size() - 1
};

/// The pieces of a partition, for `overlap`.
[[nodiscard]] std::vector<Piece> pieces(const PartitionProblem& problem,
                                        std::span<const std::size_t> ends);

/// What is known of a partition problem before its cuts are.
struct WholeProblem {
  double start = 0;
  double first = 0;     ///< production of the first wave: nothing is consumed before it
  double produced = 0;  ///< production of everything
  double bytes = 0;
  double least_time_per_byte = 0;  ///< any group takes so long
  double least_time = 0;           ///< any group takes so long, whatever its size
  double first_more = 0;           ///< what the first group takes besides
  OverlapRates rates{};
};

/// A time that no partition can beat.
[[nodiscard]] double lower_bound(const WholeProblem& problem);

/// The partition of least time among those under `limit`; `ends` is empty if there is none. Exact
/// under `overlap`: dynamic programming over the cuts that keeps, for each, every state which no
/// other one dominates. Quadratic in the cuts before pruning.
[[nodiscard]] Partition best_partition(const PartitionProblem& problem,
                                       double limit = std::numeric_limits<double>::infinity());

}  // namespace overlaptune
