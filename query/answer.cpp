#include "query/answer.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/check.hpp"
#include "query/snapshot.hpp"

namespace overlaptune {
namespace {

/// Configs of the analytic search that the learned model ranks for an answer.
constexpr int kProposals = 8;

}  // namespace

Expected<LearnedModel> learned_model(const Platform& platform,
                                     std::span<const Measurement> measurements,
                                     std::span<const Candidate> candidates) {
  auto analytic = Model::fit(platform, measurements);
  if (!analytic) return error_of(analytic);
  LearnedModel model(std::move(*analytic));
  for (const Candidate& candidate : candidates) model.learn(candidate);
  return model;
}

std::string damaged_winner(std::string_view fault) {
  return fmt::format(
      "the winner of this problem and launch is damaged ({}; see `overlaptune db repair`)", fault);
}

Answer answer_without_winner(const Platform& platform, const Problem& problem, Launch launch,
                             const std::function<const Expected<LearnedModel>&()>& model,
                             std::string_view why) {
  Answer answer;
  const auto because = [&](std::string_view what) {
    answer.reason = fmt::format("{}, and {}", why, what);
    return answer;
  };
  if (const auto fitting = fits(problem, platform); !fitting) {
    return because(fitting.error().message);
  }
  const auto& fitted = model();
  if (!fitted) return because("the model has no prediction: " + fitted.error().message);
  const auto ranking = fitted->rank(problem, launch,
                                    {.space = Space::subset,
                                     .best = kProposals,
                                     .strategies = fitted->measured_strategies(problem.op)});
  if (!ranking) return because("the model has no prediction: " + ranking.error().message);
  const LearnedScore& choice = ranking->choice();
  answer.source = Source::predicted;
  answer.config = choice.config;
  answer.predicted = choice.time();
  answer.baseline = ranking->sequential.time();
  return because(choice.config == ranking->scores.front().config
                     ? "the model predicts this one to be the fastest"
                     : "the model is not sure that any config is faster than sequential");
}

Lookup::Lookup(const Store& store, StoredPlatform platform,
               std::shared_ptr<const AnswerSnapshot> system)
    : store_(&store), platform_(std::move(platform)), system_(std::move(system)) {}

const Expected<LearnedModel>& Lookup::model() {
  if (!model_) {
    model_ = learned_model(platform_.platform, store_->measurements(platform_.id),
                           store_->valid_candidates(platform_.id));
  }
  return *model_;
}

Answer Lookup::operator()(const Problem& problem, Launch launch) {
  const auto predicted = [&](auto... why) {
    return answer_without_winner(
        platform_.platform, problem, launch,
        [this]() -> const Expected<LearnedModel>& { return model(); }, why...);
  };
  std::optional<StoredWinner> stored;
  try {
    stored = store_->winner(platform_.id, problem, launch);
  } catch (const DamagedRow& row) {
    return predicted(damaged_winner(row.fault()));
  }
  if (!stored && system_ != nullptr) {
    if (auto answer = system_->from_elsewhere(problem, launch)) return std::move(*answer);
  }
  if (!stored) return predicted();
  const Candidate& winner = stored->winner.candidate;
  // A winner of an older version may have a config that is no longer legal.
  if (!check(problem, winner.config, capabilities_of(platform_.platform))) return predicted();
  Answer answer{.source = Source::exact,
                .reason = fmt::format("validated on {} at {}", full_name(platform_.platform),
                                      stored->validated_at),
                .config = winner.config,
                .predicted = winner.predicted,
                .baseline = stored->winner.sequential};
  if (winner.measured) answer.measured = winner.measured->median;
  return answer;
}

}  // namespace overlaptune
