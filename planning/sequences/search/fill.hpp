#pragma once
// Filling one micro-batch up to a given time.

#include <span>
#include <vector>

#include "planning/sequences/search/runs.hpp"

namespace overlaptune {

/// A group while a plan is made.
struct OpenGroup {
  int level = 0;
  double time = 0;  ///< with the fixed part
  std::int64_t tokens = 0;
  int sequences = 0;
  friend bool operator==(const OpenGroup&, const OpenGroup&) = default;
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
  Counts left{};
  int gpus_left = 0;

  /// Time of the slowest group; 0 where there is none.
  [[nodiscard]] double time() const;
  [[nodiscard]] bool took_all() const;
  /// Adds sequences to a group; leaves `left` as it is.
  void put(const Runs& runs, const Part& part);
  /// How many of each of `runs` runs the groups took.
  [[nodiscard]] Counts taken(int runs) const;
};

/// Fills groups that end by a target time, longest sequences first (first fit decreasing). A
/// sequence goes to an open group where that costs little more GPU time than its cheapest degree;
/// else it opens a group of the least degree on which it ends in time. When all GPUs are in use,
/// what is left goes wherever it fits.
class Filler {
 public:
  /// No group is opened on a level below `least_level`: wider groups waste less memory.
  explicit Filler(const Runs& runs, int least_level = 0);

  /// The least GPU time of these sequences, spread over all GPUs.
  [[nodiscard]] double least_work(std::span<const int> counts) const;

  /// Overwrites `filled`, so that repeated calls reuse its memory.
  void fill(std::span<const int> counts, double target, Filled& filled);

 private:
  /// Open groups of a level, with the least that one of them has. No group is before these, so a
  /// sequence that does not fit beside the least fits into no group.
  struct Level {
    std::vector<int> open{};
    double time = 0;
    std::int64_t tokens = 0;
  };

  void join(int run, double most_area);
  void open(int run);
  /// Whether a group of the level may have room for a sequence.
  [[nodiscard]] bool may_hold(int run, int level) const;
  [[nodiscard]] bool may_join(int run) const;
  /// The next place in `present_`, from this one on, whose sequences may join a group.
  [[nodiscard]] std::size_t next_joining(std::size_t place) const;
  void put(int group, int run, int count);
  /// How many of `wanted` sequences a group still takes.
  [[nodiscard]] int room(const OpenGroup& group, int run, int wanted) const;

  const Runs* runs_;
  int least_level_;
  std::vector<double> cheapest_{};  ///< area of each run on its cheapest level
  std::vector<Level> by_level_{};
  std::vector<int> present_{};  ///< runs that have sequences, longest first
  int shortest_ = 0;            ///< last run that is there
  double target_ = 0;
  Filled* filled_ = nullptr;
};

/// The fastest micro-batch that bisection over `fill` finds, for sequences that must all run.
/// No groups: they do not fit into one micro-batch.
[[nodiscard]] Filled pack(const Runs& runs, std::span<const int> counts, int steps,
                          int least_level = 0);

}  // namespace overlaptune
