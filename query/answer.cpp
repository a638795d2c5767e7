#include "query/answer.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/capabilities.hpp"
#include "core/config/check.hpp"
#include "query/stored_fit.hpp"

namespace overlaptune {
namespace {

/// Configs of the analytic search that the learned model ranks for an answer.
constexpr int kProposals = 8;

}  // namespace

Expected<LearnedModel> learned_model(const Platform& platform,
                                     std::span<const Measurement> measurements,
                                     std::span<const Candidate> candidates,
                                     std::span<const Fit> stored) {
  auto analytic = fitted_model(platform, measurements, stored);
  if (!analytic) return error_of(analytic);
  LearnedModel model(std::move(*analytic));
  for (const Candidate& candidate : candidates) model.learn(candidate);
  return model;
}

Expected<void> fits(const Terms& terms, const Platform& platform) {
  if (terms.free_sms == 0 || platform.sms <= 0 || terms.free_sms < platform.sms) return {};
  return bad_input(fmt::format("free_sms = {}: expected fewer than the {} SMs of the GPU",
                               terms.free_sms, platform.sms));
}

Expected<Answer> baseline_answer(std::string why, const Terms& terms) {
  if (allows(terms, kBaseline)) return Answer{.reason = std::move(why)};
  return tl::make_unexpected(
      Error{ErrorKind::bad_input,
            fmt::format("no answer of the allowed strategies ({}): {}; allow more of them, or {}",
                        names_of(terms.strategies), why, to_string(kBaseline))});
}

namespace {

/// Error: the model proposes none of the allowed strategies. Where several nodes are the reason, it
/// says so.
tl::unexpected<Error> none_of(const Terms& terms, const Platform& platform, std::string_view what) {
  const std::string apart = left_out_in_words(platform);
  return bad_input(fmt::format("none of {} {}{}{}", names_of(terms.strategies), what,
                               apart.empty() ? "" : "; ", apart));
}

}  // namespace

Expected<std::vector<Strategy>> proposed(const LearnedModel& model, Op op, const Terms& terms) {
  std::vector<Strategy> measured = model.measured_strategies(op);
  if (terms.strategies.empty()) return measured;
  if (measured.empty()) {
    for (const StrategyTraits& traits : kStrategies) measured.push_back(traits.strategy);
  }
  std::erase_if(measured, [&](Strategy each) { return !allows(terms, each); });
  if (!measured.empty()) return measured;
  return none_of(terms, model.analytic().platform(),
                 fmt::format("was measured for {} on this platform", to_string(op)));
}

namespace {

/// Brings a config whose kernels the platform has run to the front, if it is predicted to take no
/// more than 2 % longer than the first one: the error of a prediction is larger. A new number of
/// tokens then compiles no kernel in a process that serves, or cannot. Whether another one was
/// first.
bool prefer_known_kernels(const LearnedModel& model, const Problem& problem,
                          std::vector<LearnedScore>& scores) {
  constexpr double kWithin = 1.02;
  const auto known = std::find_if(scores.begin(), scores.end(), [&](const LearnedScore& each) {
    return strategy_of(each.config) == kBaseline || model.has_kernels_of(problem, each.config);
  });
  if (known == scores.begin() || known == scores.end()) return false;
  if (known->time() > kWithin * scores.front().time()) return false;
  std::rotate(scores.begin(), known, known + 1);
  return true;
}

/// The model's choice. Error: why it has none.
Expected<Answer> predicted_answer(const LearnedModel& model, const Problem& problem,
                                  const Terms& terms) {
  const auto strategies = proposed(model, problem.op, terms);
  if (!strategies) return error_of(strategies);
  auto ranking = model.rank(
      problem, terms.launch,
      {.space = Space::subset,
       .best = kProposals,
       .strategies = *strategies,
       .accepts = [&](const Config& config) { return model.was_tried(problem.op, config); },
       .free_sms = terms.free_sms});
  if (!ranking) return error_of(ranking);
  std::erase_if(ranking->scores,
                [&](const LearnedScore& each) { return !allows(terms, strategy_of(each.config)); });
  if (ranking->scores.empty()) return none_of(terms, model.analytic().platform(), "can run it");
  const bool known = prefer_known_kernels(model, problem, ranking->scores);
  const LearnedScore& choice =
      allows(terms, kBaseline) ? ranking->choice() : ranking->scores.front();
  std::string what = choice.config == ranking->scores.front().config
                         ? known ? "the model predicts this one to be within 2 % of the fastest, "
                                   "whose kernels this platform has not run"
                                 : "the model predicts this one to be the fastest"
                         : "the model is not sure that any config is faster than sequential";
  if (!terms.strategies.empty()) what += fmt::format(" of {}", names_of(terms.strategies));
  if (terms.free_sms > 0) {
    what += fmt::format(" on {} SMs", model.analytic().platform().sms - terms.free_sms);
  }
  return Answer{.source = Source::predicted,
                .reason = std::move(what),
                .config = choice.config,
                .predicted = choice.time(),
                .baseline = ranking->sequential.time()};
}

/// The answer for all SMs, if its config can also run where some are left free. Nothing is known of
/// its time there, so it is not exact.
std::optional<Answer> with_times_of_all_sms(const Unmeasured& known, const Problem& problem,
                                            const Terms& terms, std::string_view why_not) {
  if (!known.on_all_sms) return std::nullopt;
  Capabilities capabilities = capabilities_of(known.platform);
  capabilities.sms -= terms.free_sms;
  if (!check(problem, known.on_all_sms->config, capabilities)) return std::nullopt;
  Answer answer = *known.on_all_sms;
  answer.source = Source::predicted;
  answer.reason = fmt::format("the times are those with all {} SMs, because {}; with all: {}",
                              known.platform.sms, why_not, answer.reason);
  if (answer.measured) answer.predicted = std::exchange(answer.measured, std::nullopt);
  return answer;
}

}  // namespace

Expected<Answer> answer_unmeasured(const Unmeasured& known, const Problem& problem,
                                   const Terms& terms) {
  const std::string why =
      terms.free_sms > 0 && known.on_all_sms
          ? fmt::format("nothing was measured with {} SMs left free", terms.free_sms)
          : known.why;
  const auto because = [&](std::string_view what) { return fmt::format("{}, and {}", why, what); };
  if (const auto fitting = fits(problem, known.platform); !fitting) {
    return baseline_answer(because(fitting.error().message), terms);
  }
  const auto& fitted = known.model();
  auto answer = fitted ? predicted_answer(*fitted, problem, terms)
                       : Expected<Answer>(tl::make_unexpected(fitted.error()));
  if (answer) {
    answer->reason = because(answer->reason);
    return answer;
  }
  const std::string without = "the model has no prediction: " + answer.error().message;
  if (auto measured = with_times_of_all_sms(known, problem, terms, without)) {
    return std::move(*measured);
  }
  return baseline_answer(because(without), terms);
}

}  // namespace overlaptune
