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

  /// Whether the caller asks the search to end. Its result is then what was found so far.
  [[nodiscard]] bool stopped() const { return stop_ && stop_(); }

  /// A config can enter the list only with a time under this, in microseconds. Infinite while the
  /// list is not full.
  [[nodiscard]] double limit() const;
  void offer(Scored scored);
  /// The time of the fastest config, in microseconds. Infinite while the list is empty.
  [[nodiscard]] double first() const;
  /// Offers `scored` in the place of the config for which `same` is true, if there is one.
  void replace(const std::function<bool(const Config&)>& same, Scored scored);
  /// The configs, fastest first.
  [[nodiscard]] std::vector<Scored> take() && { return std::move(scored_); }

 private:
  std::size_t wanted_;
  std::function<bool()> stop_;
  std::vector<Scored> scored_;
};

}  // namespace overlaptune
