#pragma once
// The costs of some GPUs as tables, which the inner loops of the planner read.

#include <cstdint>
#include <limits>
#include <vector>

#include "planning/sequences/costs.hpp"
#include "planning/sequences/plan.hpp"

namespace overlaptune {

/// The time of what cannot run.
inline constexpr double kNever = std::numeric_limits<double>::infinity();

/// Costs of each degree. Degrees are named by their exponent: level l is degree 2^l.
class Rates {
 public:
  /// `state_bytes` of the costs must be below the memory of a GPU. Keeps a reference to `costs`.
  Rates(const Costs& costs, const Gpus& gpus, const Limits& limits = {});

  /// Levels 0 to `levels()` - 1 are known, those from `least_level()` on may be used.
  [[nodiscard]] int levels() const { return static_cast<int>(levels_.size()); }
  [[nodiscard]] int least_level() const { return least_level_; }
  [[nodiscard]] const Gpus& gpus() const { return gpus_; }
  [[nodiscard]] const Limits& limits() const { return limits_; }
  /// Most sequences of a group.
  [[nodiscard]] int most_sequences() const {
    return limits_.sequences_of_group.value_or(std::numeric_limits<int>::max());
  }
  /// Time of a group before its first sequence; infinite below the least level.
  [[nodiscard]] double fixed(int level) const { return at(level).fixed; }
  [[nodiscard]] double least_fixed() const;
  /// Most tokens that the memory of a group holds; none below the least level.
  [[nodiscard]] std::int64_t capacity(int level) const { return at(level).capacity; }
  /// No groups side by side hold more tokens.
  [[nodiscard]] std::int64_t capacity() const { return capacity_; }
  /// Tokens that a sequence has in a group.
  [[nodiscard]] std::int64_t padded(std::int64_t length, int level) const {
    return overlaptune::padded(length, 1 << level, limits_);
  }
  /// Time that a sequence of so many padded tokens adds to a group.
  [[nodiscard]] double time(std::int64_t length, int level) const {
    const Level& own = at(level);
    return costs_->compute_us(length) * own.share + own.exchange * static_cast<double>(length);
  }
  [[nodiscard]] double exchange(std::int64_t tokens, int level) const {
    return at(level).exchange * static_cast<double>(tokens);
  }
  /// Bytes of each GPU of a group.
  [[nodiscard]] double memory(std::int64_t tokens, int level) const {
    return costs_->state_bytes() +
           costs_->token_bytes() * static_cast<double>(tokens) * at(level).share;
  }

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
  Gpus gpus_;
  Limits limits_;
  int least_level_ = 0;
  std::int64_t capacity_ = 0;
  std::vector<Level> levels_{};
};

}  // namespace overlaptune
