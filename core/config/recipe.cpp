#include "core/config/recipe.hpp"

#include <algorithm>
#include <numeric>
#include <set>

#include <fmt/format.h>

#include "core/config/check.hpp"
#include "core/config/strategies.hpp"

namespace overlaptune {
namespace {

/// Rows of one trial are at most so many times those of the trial before.
constexpr std::int64_t kTrialStep = 4;

std::int64_t down_to(std::int64_t rows, std::int64_t unit) {
  return rows / unit * unit;
}
std::int64_t up_to(std::int64_t rows, std::int64_t unit) {
  return (rows + unit - 1) / unit * unit;
}

/// The whole that the shares of a config add up to; 0 where its strategy has no wave groups.
std::int64_t whole_of(const Problem& problem, const Config& config) {
  const auto own_whole = [&]<class Own>(const Own& own) -> std::int64_t {
    if constexpr (requires { own.wave_groups; }) {
      return std::int64_t{kWholeShare} * TraitsOf<Own>::divided(problem);
    }
    return 0;
  };
  return std::visit(own_whole, config);
}

Expected<void> check_shares(const Problem& problem, const RecipeRange& range) {
  const bool has_groups = !wave_groups_of(range.config).empty();
  if (has_groups && range.from == range.to && range.shares.empty()) return {};
  if (has_groups) return bad_input("groups: expected shares, because there are several rows");
  const std::int64_t whole = whole_of(problem, range.config);
  const auto sum = std::accumulate(range.shares.begin(), range.shares.end(), std::int64_t{0});
  if (sum == whole) return {};
  return bad_input(fmt::format("shares: a sum of {}: expected {}",
                               static_cast<double>(sum) / kWholeShare, whole / kWholeShare));
}

Expected<void> check_range(const Recipe& recipe, const RecipeRange& range) {
  const std::int64_t unit = row_unit(recipe.weight);
  if (auto good = check_shares(problem_of(recipe.weight, unit), range); !good) return good;
  for (const std::int64_t rows : {up_to(range.from, unit), down_to(range.to, unit)}) {
    if (rows < range.from || rows > range.to) continue;
    const Problem problem = problem_of(recipe.weight, rows);
    if (auto legal = check(problem, scaled(range, problem, recipe.sms)); !legal) {
      return bad_input(fmt::format("{} rows: {}", rows, legal.error().message));
    }
  }
  return {};
}

}  // namespace

Problem problem_of(const Weight& weight, std::int64_t m) {
  return {.op = weight.op,
          .m = m,
          .n = weight.n,
          .k = weight.k,
          .elements = weight.elements,
          .ranks = weight.ranks};
}

Weight weight_of(const Problem& problem) {
  return {.op = problem.op,
          .n = problem.n,
          .k = problem.k,
          .elements = problem.elements,
          .ranks = problem.ranks};
}

std::int64_t row_unit(const Weight& weight) {
  return row_multiple(problem_of(weight, weight.ranks));
}

std::int64_t least_rows(const Weight& weight) {
  return std::max<std::int64_t>(1, row_unit(weight));
}

RecipeRange scalable(const Problem& problem, const Config& config) {
  RecipeRange range{.from = problem.m, .to = problem.m, .config = config};
  const auto take_shares = [&]<class Own>(Own& own) {
    if constexpr (requires { own.wave_groups; }) {
      range.shares = TraitsOf<Own>::shares(problem, own);
      own.wave_groups.clear();
    }
  };
  std::visit(take_shares, range.config);
  return range;
}

Config scaled(const RecipeRange& range, const Problem& problem, int sms) {
  Config config = range.config;
  const auto fit = [&]<class Own>(Own& own) {
    if constexpr (requires { own.wave_groups; }) {
      if (own.wave_groups.empty()) TraitsOf<Own>::fit(problem, own, range.shares, sms);
    }
    if constexpr (requires { own.chunks; }) {
      const std::int64_t rows = problem.m / row_blocks(problem);
      own.chunks = static_cast<int>(std::clamp<std::int64_t>(own.chunks, 1, rows));
    }
  };
  std::visit(fit, config);
  return config;
}

Expected<std::size_t> range_of(const Recipe& recipe, std::int64_t rows) {
  if (rows < 1 || rows > recipe.most_rows()) {
    return bad_input(fmt::format("rows = {}: expected 1 to {}, which the recipe serves", rows,
                                 recipe.most_rows()));
  }
  const auto found = std::ranges::lower_bound(recipe.ranges, rows, {}, &RecipeRange::to);
  return static_cast<std::size_t>(found - recipe.ranges.begin());
}

Expected<Config> config_for(const Recipe& recipe, std::int64_t rows) {
  const auto index = range_of(recipe, rows);
  if (!index) return error_of(index);
  const std::int64_t unit = row_unit(recipe.weight);
  if (rows % unit != 0) {
    return bad_input(fmt::format("rows = {}: {} needs a multiple of {}ranks = {}", rows,
                                 to_string(recipe.weight.op),
                                 unit == recipe.weight.ranks ? "" : "4 * ", unit));
  }
  const Problem problem = problem_of(recipe.weight, rows);
  Config config = scaled(recipe.ranges[*index], problem, recipe.sms);
  if (auto legal = check(problem, config); !legal) return error_of(legal);
  return config;
}

Expected<Recipe> validated(Recipe recipe) {
  const auto weight = validated(problem_of(recipe.weight, least_rows(recipe.weight)));
  if (!weight) return error_of(weight);
  if (recipe.sms < 1)
    return bad_input(fmt::format("recipe: sms = {}: expected 1 or more", recipe.sms));
  if (recipe.ranges.empty()) return bad_input("recipe: no range: expected from=1 on");
  std::int64_t from = 1;
  for (const RecipeRange& range : recipe.ranges) {
    if (range.from != from || range.to < range.from || range.to > kLargestSize) {
      return bad_input(
          fmt::format("recipe: from={} to={}: expected from={} and a to of at least it", range.from,
                      range.to, from));
    }
    if (auto good = check_range(recipe, range); !good) {
      return bad_input(
          fmt::format("recipe: from={} to={}: {}", range.from, range.to, good.error().message));
    }
    from = range.to + 1;
  }
  return recipe;
}

std::vector<std::int64_t> trial_rows(const Recipe& recipe, std::int64_t most_rows) {
  const std::int64_t unit = row_unit(recipe.weight);
  std::vector<std::int64_t> rows;
  for (const RecipeRange& range : recipe.ranges) {
    const std::int64_t first = up_to(range.from, unit);
    const std::int64_t last = down_to(std::min(range.to, most_rows), unit);
    for (std::int64_t at = first; at < last; at = up_to(at * kTrialStep, unit)) rows.push_back(at);
    if (first <= last) rows.push_back(last);
  }
  return rows;
}

std::vector<TiledKernel> kernels_of(const Recipe& recipe, std::int64_t most_rows) {
  std::set<TiledKernel> kernels;
  for (const std::int64_t rows : trial_rows(recipe, most_rows)) {
    const auto config = config_for(recipe, rows);
    if (!config) continue;
    const auto work = Work::make(problem_of(recipe.weight, rows), *config);
    auto kernel = work ? work->kernel() : std::nullopt;
    if (!kernel) continue;
    // A group has at most three regions of C. Of the shares, any number of groups may be left.
    constexpr std::size_t kMostOfGroup = 3;
    const std::size_t shares = recipe.ranges[*range_of(recipe, rows)].shares.size();
    const bool may_be_many = kMostOfGroup * (shares + 1) > kUsualRegions;
    const bool may_be_few = shares > 0 || kernel->regions <= kUsualRegions;
    for (const bool many : {false, true}) {
      if (many ? !may_be_many && kernel->regions <= kUsualRegions : !may_be_few) continue;
      kernel->regions = many ? kMostRegions : kUsualRegions;
      kernels.insert(*kernel);
    }
  }
  return {kernels.begin(), kernels.end()};
}

}  // namespace overlaptune
