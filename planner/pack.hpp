#pragma once
// Filling one micro-batch up to a given time.

#include <span>
#include <vector>

#include "planner/rates.hpp"

namespace overlaptune {

/// A group while a plan is made.
struct OpenGroup {
  int level = 0;
  double time = 0;  ///< with the fixed part
  std::int64_t tokens = 0;
};

/// Sequences of one length in a group.
struct Part {
  int group = 0;  ///< index into the groups
  int run = 0;    ///< index into the runs
  int count = 0;
};

/// Groups of one micro-batch, and the counts of the sequences that they did not take.
struct Filled {
  std::vector<OpenGroup> groups{};
  std::vector<Part> parts{};
  std::vector<int> left{};
  int gpus_left = 0;
  std::vector<std::vector<int>> by_level{};  ///< indices of the groups of each level
  [[nodiscard]] double time() const;
  [[nodiscard]] bool took_all() const;
};

/// Which of the groups with room takes a sequence.
enum class Fit { first, fullest };

/// Fills groups that end by `target`, longest sequences first: a sequence goes to the lowest level
/// that has room, else it opens a group of the lowest level on which it can end in time (first fit
/// decreasing with groups that are opened as needed). `counts` says how many of each run there are.
/// `filled` is overwritten; it is passed in so that repeated calls reuse its memory.
void fill(const Rates& rates, std::span<const Run> runs, std::span<const int> counts, double target,
          Fit fit, Filled& filled);

/// The fastest micro-batch that bisection over `fill` finds, for sequences that must all run.
/// No groups: they do not fit into one micro-batch.
[[nodiscard]] Filled pack(const Rates& rates, std::span<const Run> runs,
                          std::span<const int> counts, int steps);

}  // namespace overlaptune
