#include "strategies/signaled/model_group_table.hpp"

#include <algorithm>
#include <limits>

namespace overlaptune {

GroupTable::GroupTable(const PartitionProblem& problem) : cuts_(problem.cuts.size()) {
  times_.resize(cuts_ * cuts_);
  for (std::size_t begin = 0; begin + 1 < cuts_; ++begin) {
    double* times = &times_[begin * cuts_];
    std::size_t segment = 0;
    for (std::size_t end = begin + 1; end + 1 < cuts_; ++end) {
      const double bytes = problem.cuts[end].bytes - problem.cuts[begin].bytes;
      times[end] = problem.group_time(begin, end, problem.collective->ascending(bytes, segment));
    }
    times[cuts_ - 1] = problem.group_time(begin, cuts_ - 1);
  }
}

EarliestEnd::EarliestEnd(const PartitionProblem& problem, const GroupTable& groups)
    : rates_(problem.rates), last_start_(problem.rates) {
  constexpr double kNone = std::numeric_limits<double>::infinity();
  const std::size_t last_cut = problem.cuts.size() - 1;
  last_.resize(last_cut);
  rests_.resize(last_cut, {kNone, kNone});
  rests_.back() = {};
  all_rests_.resize(last_cut + 1, {kNone, kNone});
  all_rests_.back() = {0, -rates_.gap};  // no gap follows the last group
  const auto lower = [this](Rest& rest, double time, const Rest& others) {
    rest.consumption = std::min(rest.consumption, time + others.consumption);
    rest.in_a_row = std::min(rest.in_a_row, time + rates_.gap + others.in_a_row);
  };
  for (std::size_t begin = last_cut; begin-- > 0;) {
    const double* times = groups.from(begin);
    for (std::size_t end = begin + 1; end < last_cut; ++end) {
      lower(rests_[begin], times[end], rests_[end]);
      lower(all_rests_[begin], times[end], all_rests_[end]);
    }
    lower(all_rests_[begin], times[last_cut], all_rests_[last_cut]);
    last_[begin] = times[last_cut];
  }
  least_last_ = last_;
  least_rests_ = rests_;
  for (std::size_t i = 1; i < last_cut; ++i) {
    least_last_[i] = std::min(least_last_[i], least_last_[i - 1]);
    Rest& more = least_rests_[last_cut - 1 - i];
    more.consumption = std::max(more.consumption, least_rests_[last_cut - i].consumption);
    more.in_a_row = std::max(more.in_a_row, least_rests_[last_cut - i].in_a_row);
  }
}

}  // namespace overlaptune
