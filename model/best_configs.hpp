#pragma once
// The list that a search fills: the fastest configs found so far.

#include <functional>
#include <utility>
#include <vector>

#include "model/search.hpp"

namespace overlaptune {

/// The best configs found so far, one for each combination that was offered.
class BestConfigs {
 public:
  explicit BestConfigs(int wanted, std::function<bool()> stop = {})
      : wanted_(static_cast<std::size_t>(wanted)), stop_(std::move(stop)) {}

  /// The search is to end with what it has.
  [[nodiscard]] bool stopped() const { return stop_ && stop_(); }

  /// Only a time under this can still enter the list, in microseconds.
  [[nodiscard]] double limit() const;
  void offer(Scored scored);
  /// The time to beat to become the first, in microseconds.
  [[nodiscard]] double first() const;
  /// Offers it in the place of the one that `same` finds, if there is one.
  void replace(const std::function<bool(const Config&)>& same, Scored scored);
  /// Fastest first.
  [[nodiscard]] std::vector<Scored> take() && { return std::move(scored_); }

 private:
  std::size_t wanted_;
  std::function<bool()> stop_;
  std::vector<Scored> scored_;
};

}  // namespace overlaptune
