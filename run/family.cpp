#include "run/family.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/config/config_fields.hpp"
#include "run/agreed.hpp"

namespace overlaptune::run {
namespace {

/// Tiles have heights that are multiples of this many rows: with rows between two multiples, a
/// plan has the tiles of the higher one.
constexpr std::int64_t kLeastHeight = 8;

PlanNames names_of(World& world, const Recipe& recipe, const RecipeRange& range) {
  const Weight& weight = recipe.weight;
  const std::string of =
      fmt::format("{}:{}..{},{},{}:{}:{}", to_string(weight.op), range.from, range.to, weight.n,
                  weight.k, to_string(weight.elements), weight.ranks);
  return {world.waits().number_of(of + " by " + config_text(range)),
          PlanName(fmt::format("{} {} {}", of, to_string(strategy_of(range.config)),
                               to_string(transport_of(range.config))))};
}

}  // namespace

Expected<Work> work_for(const Recipe& recipe, std::int64_t rows) {
  auto config = config_for(recipe, rows);
  if (!config) return error_of(config);
  return Work::make(problem_of(recipe.weight, rows), std::move(*config));
}

Expected<FamilySizes> family_sizes(const Recipe& recipe, std::int64_t most_rows) {
  const std::int64_t unit = row_unit(recipe.weight);
  const std::int64_t most = most_rows / unit * unit;
  if (most < unit || most_rows > recipe.most_rows()) {
    return bad_input(fmt::format("rows = {}: expected {} to {}, which the recipe serves", most_rows,
                                 unit, recipe.most_rows()));
  }
  std::vector<std::int64_t> rows = trial_rows(recipe, most);
  const std::int64_t step = kLeastHeight * unit;
  for (std::int64_t at = step; at <= most; at += step) rows.push_back(at);
  FamilySizes sizes{.most = problem_of(recipe.weight, most)};
  for (const std::int64_t each : rows) {
    const auto work = work_for(recipe, each);
    if (!work) return error_of(work);
    const DeployedSizes takes = deployed_sizes(*work);
    sizes.shared_bytes = std::max(sizes.shared_bytes, takes.shared());
    sizes.temporary_bytes = std::max(sizes.temporary_bytes, takes.scratch);
  }
  return sizes;
}

std::vector<std::int64_t> family_trials(const Recipe& recipe, std::int64_t most_rows) {
  std::vector<std::int64_t> rows = trial_rows(recipe, most_rows);
  std::vector<std::int64_t> needed;
  std::vector<Config> tried;
  for (auto each = rows.rbegin(); each != rows.rend(); ++each) {
    Config config = recipe.ranges[value_or_throw(range_of(recipe, *each))].config;
    with_field<config_field::Swizzle>(config, [](int& swizzle) { swizzle = 0; });
    if (auto* groups = wave_groups_of(config)) groups->clear();
    const bool depends = tile_of(config).is_library() || is_nccls(transport_of(config)) ||
                         is_nccls(last_transport_of(config));
    const bool known = std::find(tried.begin(), tried.end(), config) != tried.end();
    if (known && !depends) continue;
    tried.push_back(std::move(config));
    needed.push_back(*each);
  }
  std::reverse(needed.begin(), needed.end());
  return needed;
}

Family::Family(const Engine& engine, Recipe recipe, std::int64_t most_rows)
    : engine_(engine),
      recipe_(std::move(recipe)),
      most_rows_(most_rows),
      plans_([this](const std::int64_t& rows) { return made(rows); }, kMostPlans) {}

Expected<std::unique_ptr<Family>> Family::make(const Engine& engine, Recipe recipe,
                                               std::int64_t most_rows) {
  std::unique_ptr<Family> family(new Family(engine, std::move(recipe), most_rows));
  if (auto prepared = family->prepare(); !prepared) return error_of(prepared);
  return family;
}

Expected<void> Family::prepare() {
  World& world = engine_.world;
  const World::Compilation compilation(world);
  const std::vector<TiledKernel> kernels = kernels_of(recipe_, most_rows_);
  engine_.generated.compile(kernels, world.rank(), world.ranks());
  auto loaded = agreed(world, caught([&]() -> Expected<void> {
                         parts_ = std::make_shared<FamilyParts>();
                         for (const TiledKernel& kernel : kernels) {
                           const auto gemm = engine_.generated.gemm(kernel);
                           if (!gemm) return error_of(gemm);
                         }
                         return {};
                       }),
                       "make this family");
  if (!loaded) return loaded;
  for (const RecipeRange& range : recipe_.ranges) names_.push_back(names_of(world, recipe_, range));
  // The most rows come first: if memory is short, that is known before anything is timed.
  const std::vector<std::int64_t> rows = family_trials(recipe_, most_rows_);
  for (auto each = rows.rbegin(); each != rows.rend(); ++each) {
    const auto tried = DeployedPlan::make(engine_, value_or_throw(work_for(recipe_, *each)));
    if (!tried) return error_of(tried);
  }
  return {};
}

std::unique_ptr<DeployedPlan> Family::made(std::int64_t rows) {
  const Work work = value_or_throw(work_for(recipe_, rows));
  const std::size_t range = value_or_throw(range_of(recipe_, rows));
  return value_or_throw(DeployedPlan::make_alone(engine_, work, parts_, names_[range]));
}

DeployedPlan& Family::plan(std::int64_t rows) {
  if (rows > most_rows_) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("rows = {}: expected 1 to {}, for which the family was made", rows,
                              most_rows_));
  }
  return *plans_[rows];
}

}  // namespace overlaptune::run
