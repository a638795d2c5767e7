#include "cli/flags/question.hpp"

#include <utility>

#include <fmt/format.h>

#include "cli/output/origin.hpp"
#include "core/multicast.hpp"
#include "reports/json.hpp"

namespace overlaptune::cli {

Question::Question(const QuestionFlags& flags, AskedProblem asked)
    : problem_(asked.problem),
      assumptions_(std::move(asked.assumptions)),
      launch_(flags.launch),
      store_(flags.database, Access::read),
      platform_(value_or_throw(store_.platform(flags.platform))),
      answers_({flags.database}, {.described = platform_.platform}, system_database()) {
  value_or_throw(fits(problem_, platform_.platform));
}

Answer Question::answer(Terms terms) {
  terms.launch = launch_;
  Answer answer = value_or_throw(answers_.answer(problem_, terms));
  if (answer.source == Source::baseline && store_.measurements(platform_.id).empty()) {
    static_cast<void>(model());  // throws, naming what was not probed
  }
  return answer;
}

RecipeAnswer Question::recipe(Terms terms) {
  terms.launch = launch_;
  static_cast<void>(answer(terms));  // throws where an answer would only be a guess
  return value_or_throw(answers_.recipe(weight_of(problem_), problem_.m, terms));
}

const LearnedModel& Question::model() {
  const auto& model = answers_.model();
  if (!model) {
    refuse("{}: {}: run `overlaptune probe` into this database first",
           full_name(platform_.platform), model.error().message);
  }
  return *model;
}

std::string Question::multicast(const Answer& answer) const {
  return multicast_in_words(problem_, answer.config, platform_.platform.multicast_allowed);
}

std::optional<Microseconds> Question::nccl_ring(const Answer& answer) {
  const Config plain{};
  if (answer.source != Source::predicted || answer.config == plain ||
      strategy_of(answer.config) != kBaseline || !answers_.model()) {
    return std::nullopt;
  }
  const auto score = model().score(model().around(problem_, launch_), plain);
  // Corrections may bring the ring ahead by a hair of what the search has found to be the fastest.
  if (!score || score->time() < answer.predicted) return std::nullopt;
  return score->time();
}

OrderedJson Question::document(const Answer& answer) {
  OrderedJson document{{"source", to_string(answer.source)},
                       {"reason", answer.reason},
                       {"platform", platform_.platform.name},
                       {"fingerprint", fingerprint(platform_.platform)},
                       {"launch", to_string(launch_)},
                       {"problem", json_of(problem_)},
                       {"config", json_of(answer.config)},
                       {"predicted_us", json_of(answer.predicted)},
                       {"measured_us", json_of(answer.measured)},
                       {"baseline_us", json_of(answer.baseline)},
                       {"nccl_ring_us", json_of(nccl_ring(answer))},
                       {"multicast", multicast(answer)}};
  add_origin(document, platform_.platform);
  add_assumptions(document, assumptions_);
  return document;
}

OrderedJson Question::document(const RecipeAnswer& answer) const {
  OrderedJson document{{"reason", answer.reason},
                       {"platform", platform_.platform.name},
                       {"fingerprint", fingerprint(platform_.platform)},
                       {"launch", to_string(launch_)},
                       {"problem", json_of(problem_)},
                       {"sms", answer.recipe.sms},
                       {"ranges", OrderedJson::array()},
                       {"text", to_string(answer.recipe)}};
  for (const RecipeRange& range : answer.recipe.ranges) {
    document["ranges"].push_back({{"from", range.from},
                                  {"to", range.to},
                                  {"strategy", to_string(strategy_of(range.config))},
                                  {"config", config_text(range)}});
  }
  add_origin(document, platform_.platform);
  add_assumptions(document, assumptions_);
  return document;
}

}  // namespace overlaptune::cli
