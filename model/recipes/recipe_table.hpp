#pragma once
// Times of scaled configs over the rows of a weight: the table from which a recipe is made.

#include <cstdint>
#include <limits>
#include <vector>

#include "model/recipes/recipes.hpp"

namespace overlaptune {

/// A config that was found for some rows, and the rows for which it is a proposal.
struct Proposal {
  RecipeRange range{};     ///< scalable
  std::int64_t first = 1;  ///< fewest rows for which it is looked at
  std::int64_t last = 1;   ///< most rows
  std::size_t kernel = 0;  ///< its kernel among `RecipeTable::kernels`, or `kNoKernel`
};

inline constexpr std::size_t kNoKernel = std::numeric_limits<std::size_t>::max();
inline constexpr double kNeverFast = std::numeric_limits<double>::infinity();

/// Kernels that configs share, whatever the sizes of the problem (`same_kernels`).
struct TileKernel {
  Strategy strategy{};
  Tile tile{};
  bool tiles_push = false;
  friend auto operator<=>(const TileKernel&, const TileKernel&) = default;
};

struct RecipeTable {
  std::vector<std::int64_t> rows{};  ///< ascending; each stands for those after the one before
  std::vector<Proposal> proposals{};
  std::vector<TileKernel> kernels{};
  /// costs[i][j]: the time of proposal j at rows[i] over that of the fastest one, 1 or more;
  /// `kNeverFast` where it is no proposal or not legal.
  std::vector<std::vector<double>> costs{};

  [[nodiscard]] std::size_t kernel_of(const Config& config) const;
};

/// Error: as `make_recipe`.
[[nodiscard]] Expected<RecipeTable> recipe_table(const LearnedModel& model, const Weight& weight,
                                                 const RecipeWish& wish);

}  // namespace overlaptune
