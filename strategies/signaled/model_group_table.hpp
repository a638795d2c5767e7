#pragma once
// Times and bounds of all groups, computed before the search over partitions begins. Times are
// microseconds.

#include <cstddef>
#include <vector>

#include "strategies/signaled/model_partition.hpp"
#include "strategies/signaled/model_partition_bound.hpp"

namespace overlaptune {

/// The times of all groups.
class GroupTable {
 public:
  explicit GroupTable(const PartitionProblem& problem);
  /// The times of the groups that begin at a cut, by the cut that ends them.
  [[nodiscard]] const double* from(std::size_t begin) const { return &times_[begin * cuts_]; }

 private:
  std::size_t cuts_;
  std::vector<double> times_;
};

/// Says whether what follows a state may end before a limit.
class EarliestEnd {
 public:
  EarliestEnd(const PartitionProblem& problem, const GroupTable& groups);

  /// Whether a partition with this state at this cut may end before `limit`.
  [[nodiscard]] bool is_before(double limit, const OverlapState& state, std::size_t cut) {
    const double from = state.consumer_end + rates_.gap;
    return std::max(state.producer_end + rates_.trigger, from) + last_[cut] < limit ||
           is_before(limit, state, cut, from);
  }

  /// Whether a partition with this state at this cut may end before `limit`, if at least one group
  /// comes before the last one, and the consumer does not start on the last one before `from`.
  [[nodiscard]] bool is_before(double limit, const OverlapState& state, std::size_t cut,
                               double from) {
    const std::size_t most = last_.size() - 1;
    if (cut >= most) return false;
    const auto last = [&](std::size_t begin) { return least_last_[begin]; };
    const auto before = [&](std::size_t begin) {
      return last_start_(state, from,
                         {rests_[cut].consumption - least_rests_[begin].consumption,
                          rests_[cut].in_a_row - least_rests_[begin].in_a_row});
    };
    // The last group that was possible for another state often is for this one.
    if (possible_ > cut && last(possible_) + before(possible_) < limit) return true;
    // Where the consumer is the limit, all last groups are equally good, and the sum of all groups
    // tells as much.
    if (last_start_(state, from, all_rests_[cut]) >= limit) return false;
    const auto found = find_under(limit, cut + 1, most, last, before);
    if (!found) return false;
    possible_ = *found;
    return true;
  }

 private:
  OverlapRates rates_;
  LastStart last_start_;
  std::vector<Rest> all_rests_{};     ///< the least of all groups from a cut on
  std::vector<double> last_{};        ///< the last group, by the cut where it begins
  std::vector<double> least_last_{};  ///< the least of those that begin there or before
  /// The least of groups from a cut to the last but one. From one cut to another takes at least the
  /// difference of the two.
  std::vector<Rest> rests_{};
  std::vector<Rest> least_rests_{};  ///< the most of those from there or from later cuts
  std::size_t possible_ = 0;         ///< where a last group began that was possible
};

}  // namespace overlaptune
