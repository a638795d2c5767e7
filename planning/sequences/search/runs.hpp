#pragma once
// The sequences of a batch by length, with their times on every level.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "planning/sequences/rates.hpp"

namespace overlaptune {

/// Sequences of one length.
struct Run {
  std::int64_t length = 0;
  int count = 0;
};

/// The runs of some lengths, longest first.
[[nodiscard]] std::vector<Run> runs_of(std::span<const std::int64_t> lengths);

/// How many sequences of each run.
using Counts = std::vector<int>;

/// The run of every sequence, longest first.
[[nodiscard]] std::vector<int> each_of(std::span<const int> counts);

/// Runs, longest first, and what one sequence of each costs. Keeps a reference to `rates`.
class Runs {
 public:
  /// Every length must fit into a group of the widest level.
  Runs(const Rates& rates, std::vector<Run> runs);

  [[nodiscard]] int size() const { return static_cast<int>(runs_.size()); }
  [[nodiscard]] const std::vector<Run>& list() const { return runs_; }
  [[nodiscard]] std::int64_t length(int run) const { return at(run).length; }
  [[nodiscard]] const Counts& counts() const { return counts_; }
  [[nodiscard]] int count(int run) const { return at(run).count; }
  /// Padded tokens of a sequence in a group of a level.
  [[nodiscard]] std::int64_t tokens(int run, int level) const {
    return tokens_[static_cast<std::size_t>(run * rates_->levels() + level)];
  }
  /// Padded tokens of a sequence where they are fewest.
  [[nodiscard]] std::int64_t least_tokens(int run) const {
    return tokens(run, rates_->least_level());
  }
  /// The least level, not below `from`, on which memory holds a sequence; `levels()`: none.
  [[nodiscard]] int holding_level(int run, int from) const;
  [[nodiscard]] const Rates& rates() const { return *rates_; }

  /// Time that a sequence adds to a group of a level; infinite where memory does not hold it.
  [[nodiscard]] double time(int run, int level) const {
    return times_[static_cast<std::size_t>(run * rates_->levels() + level)];
  }
  /// GPU time (time times degree) of a sequence on a level.
  [[nodiscard]] double area(int run, int level) const { return time(run, level) * (1 << level); }
  /// The least area of a sequence over all levels on which it takes at most `most`; infinite where
  /// there is none.
  [[nodiscard]] double least_area(int run, double most = kNever) const;

 private:
  [[nodiscard]] const Run& at(int run) const { return runs_[static_cast<std::size_t>(run)]; }

  const Rates* rates_;
  std::vector<Run> runs_;
  Counts counts_{};
  std::vector<double> times_{};         ///< by run, then level
  std::vector<std::int64_t> tokens_{};  ///< by run, then level
};

}  // namespace overlaptune
