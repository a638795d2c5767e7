#pragma once
// What a strategy brings to the model. To add one: a file in model/ with these two functions, and a
// line in the table in strategy.cpp.

#include <functional>
#include <span>
#include <vector>

#include "model/parts.hpp"
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

struct StrategyModel {
  Strategy strategy = Strategy::sequential;
  /// Error: a config that does not fit the problem or was not probed.
  Expected<Prediction> (*predict)(const Model::Parts&, const Problem&, const Config&, Launch);
  /// Offers the best config of every combination of the space that may enter the list.
  void (*search)(const Model::Parts&, const Problem&, Launch, Space, BestConfigs&);
};

[[nodiscard]] std::span<const StrategyModel> strategy_models();

/// The curve of a config's collectives. Error: never probed.
[[nodiscard]] Expected<const Curve*> probed_curve(const Model::Parts& parts, const Problem& problem,
                                                  const Config& config);

// sequential.cpp
Expected<Prediction> predict_sequential(const Model::Parts&, const Problem&, const Config&, Launch);
void search_sequential(const Model::Parts&, const Problem&, Launch, Space, BestConfigs&);
// chunked.cpp
Expected<Prediction> predict_chunked(const Model::Parts&, const Problem&, const Config&, Launch);
void search_chunked(const Model::Parts&, const Problem&, Launch, Space, BestConfigs&);
// signaled.cpp
Expected<Prediction> predict_signaled(const Model::Parts&, const Problem&, const Config&, Launch);
void search_signaled(const Model::Parts&, const Problem&, Launch, Space, BestConfigs&);

}  // namespace overlaptune
