// Recipes from a snapshot.

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "model/recipes/recipes.hpp"
#include "query/snapshot.hpp"

namespace overlaptune {
namespace {

/// `sequential` for all rows: the recipe where nothing better is known.
Expected<RecipeAnswer> baseline_recipe(const Weight& weight, std::int64_t most_rows,
                                       const Terms& terms, const Platform& platform,
                                       const std::string& why) {
  const auto allowed = baseline_answer(why, terms);
  if (!allowed) return error_of(allowed);
  Recipe recipe{.weight = weight,
                .launch = terms.launch,
                .sms = std::max(1, platform.sms - terms.free_sms),
                .ranges = {{.from = 1, .to = most_rows}}};
  auto sound = validated(std::move(recipe));
  if (!sound) return error_of(sound);
  return RecipeAnswer{std::move(*sound), "sequential for all rows: " + why};
}

}  // namespace

std::set<std::int64_t> AnswerSnapshot::rows_of_winners(const Weight& weight, Launch launch) const {
  std::set<std::int64_t> rows;
  const auto add = [&](const Winners& winners) {
    for (const auto& [key, answer] : winners) {
      if (PackedProblem(problem_of(weight, key.m()), launch) == key) rows.insert(key.m());
    }
  };
  add(winners_);
  if (elsewhere_) add(elsewhere_->winners);
  return rows;
}

Expected<RecipeAnswer> AnswerSnapshot::recipe(const Weight& weight, std::int64_t most_rows,
                                              const Terms& terms) const {
  const Platform& platform = choice_.platform;
  const auto baseline = [&](const std::string& why) {
    return baseline_recipe(weight, most_rows, terms, platform, why);
  };
  if (const auto fitting = overlaptune::fits(terms, platform); !fitting) return error_of(fitting);
  const Problem unit = problem_of(weight, least_rows(weight));
  if (const auto sound = validated(unit); !sound) return error_of(sound);
  if (!choice_.stored && !elsewhere_) return baseline(choice_.unlike);
  if (const auto fitting = overlaptune::fits(unit, platform); !fitting) {
    return baseline(fitting.error().message);
  }
  const auto& fitted = model();
  if (!fitted) return baseline("the model has no prediction: " + fitted.error().message);
  const auto strategies = proposed(*fitted, weight.op, terms);
  if (!strategies) return baseline(strategies.error().message);

  // Nothing predicts what a gate costs, so in an exclusive world the model says what it says
  // behind one (`without_gate`).
  RecipeWish wish{.launch = in_world(terms.launch, false),
                  .most_rows = most_rows,
                  .strategies = *strategies,
                  .free_sms = terms.free_sms};
  if (terms.free_sms == 0) {
    auto rows = rows_of_winners(weight, terms.launch);
    rows.merge(rows_of_winners(weight, wish.launch));
    for (const std::int64_t each : rows) {
      if (each > most_rows) continue;
      const auto known = answer(problem_of(weight, each), terms);
      if (known) wish.winners.push_back({each, known->config});
    }
  }
  auto recipe = make_recipe(*fitted, weight, wish);
  if (!recipe) return baseline("the model has no prediction: " + recipe.error().message);
  recipe->launch = terms.launch;
  return RecipeAnswer{
      std::move(*recipe),
      fmt::format("the model's choice for each range of rows, and {} stored winners of this weight",
                  wish.winners.size())};
}

}  // namespace overlaptune
