#include "query/answer.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/check.hpp"
#include "model/search.hpp"

namespace overlaptune {

Answer answer_without_winner(const Platform& platform, const Problem& problem, Launch launch,
                             const std::function<const Expected<Model>&()>& model) {
  Answer answer;
  const auto because = [&](std::string_view what) {
    answer.reason = fmt::format("no winner is stored for this problem and launch, and {}", what);
    return answer;
  };
  if (const auto fitting = fits(problem, platform); !fitting) {
    return because(fitting.error().message);
  }
  const auto& fitted = model();
  if (!fitted) return because("the model has no prediction: " + fitted.error().message);
  const auto baseline = fitted->predict(problem, Config{}, launch);
  if (baseline) answer.baseline = baseline->time;
  const auto best = search(*fitted, problem, launch, {.space = Space::subset});
  if (!best) return because("the model has no prediction: " + best.error().message);
  answer.source = Source::predicted;
  answer.config = best->front().config;
  answer.predicted = best->front().time;
  return because("the model predicts this one to be the fastest");
}

Lookup::Lookup(const Store& store, StoredPlatform platform)
    : store_(&store), platform_(std::move(platform)) {}

const Expected<Model>& Lookup::model() {
  if (!model_) model_ = Model::fit(platform_.platform, store_->measurements(platform_.id));
  return *model_;
}

Answer Lookup::operator()(const Problem& problem, Launch launch) {
  const auto stored = store_->winner(platform_.id, problem, launch);
  const auto predicted = [&] {
    return answer_without_winner(platform_.platform, problem, launch,
                                 [this]() -> const Expected<Model>& { return model(); });
  };
  if (!stored) return predicted();
  const Candidate& winner = stored->winner.candidate;
  // A winner of an older version may have a config that is no longer legal.
  if (!check(problem, winner.config, capabilities_of(platform_.platform))) return predicted();
  Answer answer{
      .source = Source::exact,
      .reason = fmt::format("validated on {} at {}", platform_.platform.name, stored->validated_at),
      .config = winner.config,
      .predicted = winner.predicted,
      .baseline = stored->winner.sequential};
  if (winner.measured) answer.measured = winner.measured->median;
  return answer;
}

}  // namespace overlaptune
