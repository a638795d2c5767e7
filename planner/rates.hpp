#pragma once
// The costs of some GPUs as tables, which the inner loops of the planner read.

#include <cstdint>
#include <span>
#include <vector>

#include "planner/costs.hpp"
#include "planner/plan.hpp"

namespace overlaptune {

/// What a degree costs. Degrees are named by their exponent: level l is degree 2^l.
class Rates {
 public:
  /// `state_bytes` of the costs must be below the memory of a GPU. Keeps a reference to `costs`.
  Rates(const Costs& costs, const Gpus& gpus);

  [[nodiscard]] int levels() const { return static_cast<int>(levels_.size()); }
  [[nodiscard]] const Gpus& gpus() const { return gpus_; }
  /// Time of a group before its first sequence.
  [[nodiscard]] double fixed(int level) const { return at(level).fixed; }
  [[nodiscard]] double least_fixed() const;
  /// Most tokens that the memory of a group holds.
  [[nodiscard]] std::int64_t capacity(int level) const { return at(level).capacity; }
  /// Most tokens that all GPUs together hold.
  [[nodiscard]] std::int64_t capacity() const { return levels_.back().capacity; }
  /// Time that a sequence adds to a group.
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
  std::vector<Level> levels_{};
};

}  // namespace overlaptune
