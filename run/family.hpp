#pragma once
// A family of plans: those of one weight with any number of rows, by a recipe. All that ranks do
// together is done when it is made; a new number of rows then costs microseconds.

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "core/config/recipe.hpp"
#include "run/deployed.hpp"
#include "run/latest.hpp"

namespace overlaptune::run {

/// Bytes in which every plan of a family with up to a number of rows finds room.
struct FamilySizes {
  Problem most{};                    ///< of the most rows, whose operands are the largest
  std::int64_t shared_bytes = 0;     ///< as of `DeployedSizes`
  std::int64_t temporary_bytes = 0;  ///< while the family is made
};
/// Error (`bad_input`): rows that the recipe does not serve.
[[nodiscard]] Expected<FamilySizes> family_sizes(const Recipe& recipe, std::int64_t most_rows);

/// The work for a number of rows. Error: as `config_for`.
[[nodiscard]] Expected<Work> work_for(const Recipe& recipe, std::int64_t rows);

/// Rows at which a family is tried, ascending: those of `trial_rows`. But where neither NCCL nor
/// the GEMM library has a part that depends on the rows, one number is enough for all ranges with
/// the same kernel, transport and CTAs: the most.
[[nodiscard]] std::vector<std::int64_t> family_trials(const Recipe& recipe, std::int64_t most_rows);

class Family {
 public:
  /// Collective. Compiles and loads every kernel, makes every communicator, chooses algorithms of
  /// the library at rows of each range, and runs a plan at these rows once (`family_trials`).
  /// `World::memory` must have room for `family_sizes`, and the work of each trial was checked
  /// (`check_fits`). Error, on every rank: as `DeployedPlan::make`. Throws `Failure` as that does.
  [[nodiscard]] static Expected<std::unique_ptr<Family>> make(const Engine& engine, Recipe recipe,
                                                              std::int64_t most_rows);

  /// The plan for a number of rows, valid until the next call. Not collective: where it is new, it
  /// is made alone. Throws `Failure` (`bad_input`) for rows that the family does not serve.
  [[nodiscard]] DeployedPlan& plan(std::int64_t rows);

  [[nodiscard]] const Recipe& recipe() const { return recipe_; }
  [[nodiscard]] std::int64_t most_rows() const { return most_rows_; }

  /// Plans that are kept ready. One takes some kilobytes of the host's memory for each set of
  /// operands that it has run on.
  static constexpr std::size_t kMostPlans = 64;

 private:
  Family(const Engine& engine, Recipe recipe, std::int64_t most_rows);
  [[nodiscard]] Expected<void> prepare();
  [[nodiscard]] std::unique_ptr<DeployedPlan> made(std::int64_t rows);

  Engine engine_;
  Recipe recipe_;
  std::int64_t most_rows_;
  std::shared_ptr<FamilyParts> parts_{};
  std::vector<PlanNames> names_{};  ///< of each range
  Latest<std::int64_t, std::unique_ptr<DeployedPlan>> plans_;
};

}  // namespace overlaptune::run
