#pragma once
// The costs of one cluster as tables, which the inner loops of the planner read.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "planner/costs.hpp"
#include "planner/plan.hpp"

namespace overlaptune {

/// Sequences of one length.
struct Run {
  std::int64_t length = 0;
  int count = 0;
};

/// The runs of some lengths, longest first.
[[nodiscard]] std::vector<Run> runs_of(std::span<const std::int64_t> lengths);

/// Degrees are named by their exponent: level l is degree 2^l.
class Rates {
 public:
  /// `state_bytes` of the costs must be below the memory.
  Rates(const Costs& costs, const Cluster& cluster);

  [[nodiscard]] int levels() const { return static_cast<int>(levels_.size()); }
  [[nodiscard]] int gpus() const { return cluster_.gpus; }
  [[nodiscard]] const Cluster& cluster() const { return cluster_; }
  [[nodiscard]] double fixed(int level) const { return at(level).fixed; }
  /// Most tokens that the memory of a group holds.
  [[nodiscard]] std::int64_t capacity(int level) const { return at(level).capacity; }
  /// Time that a sequence adds to a group.
  [[nodiscard]] double time(std::int64_t length, int level) const {
    const Level& own = at(level);
    return costs_->compute_us(length) * own.share + own.exchange * static_cast<double>(length);
  }
  [[nodiscard]] double exchange(std::int64_t tokens, int level) const {
    return at(level).exchange * static_cast<double>(tokens);
  }
  [[nodiscard]] double memory(std::int64_t tokens, int level) const {
    return costs_->state_bytes() +
           costs_->token_bytes() * static_cast<double>(tokens) * at(level).share;
  }
  /// The lowest level whose memory holds the sequence; none if all GPUs together do not.
  [[nodiscard]] std::optional<int> least_level(std::int64_t length) const;

 private:
  struct Level {
    double share = 1;
    double exchange = 0;
    double fixed = 0;
    std::int64_t capacity = 0;
  };
  [[nodiscard]] const Level& at(int level) const {
    return levels_[static_cast<std::size_t>(level)];
  }

  const Costs* costs_;
  Cluster cluster_;
  std::vector<Level> levels_{};
};

}  // namespace overlaptune
