#pragma once
// Recipes from a model: a config for each range of rows of a weight, found once.

#include <cstdint>
#include <vector>

#include "core/config/recipe.hpp"
#include "model/learned_model.hpp"

namespace overlaptune {

/// A config that is to run with exactly so many rows: a winner.
struct FixedRows {
  std::int64_t rows = 0;
  Config config{};
};

struct RecipeWish {
  Launch launch = Launch::graph;
  std::int64_t most_rows = 16384;
  /// Strategies to consider; empty: all that the model knows. `sequential` is a part of every
  /// recipe where nothing else can run.
  std::vector<Strategy> strategies{};
  int free_sms = 0;  ///< SMs that plans leave alone
  /// Most kernels (a strategy with a tile) of the recipe, so that all can be compiled at once.
  int most_kernels = 8;
  /// Configs for single numbers of rows, in any order. They are taken as they are, where their
  /// kernels are among the most used ones.
  std::vector<FixedRows> winners{};
};

/// The recipe of a weight. Each range has the config that the learned model predicts to be fastest
/// in it, or nearly so: kernels of configs that the platform has run are preferred where that costs
/// at most 2 %, and so is a config that the rows before have. Where the model is not sure that any
/// config is faster than `sequential`, that is taken. Making it takes a few hundred times as long
/// as an answer. Error: as `LearnedModel::rank`, or sizes that no problem may have.
[[nodiscard]] Expected<Recipe> make_recipe(const LearnedModel& model, const Weight& weight,
                                           const RecipeWish& wish);

}  // namespace overlaptune
