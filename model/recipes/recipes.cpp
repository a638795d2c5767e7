#include "model/recipes/recipes.hpp"

#include <algorithm>
#include <functional>
#include <map>
#include <numeric>
#include <string>

#include "model/parts.hpp"
#include "model/recipes/recipe_table.hpp"

namespace overlaptune {
namespace {

/// Cost of another config than that of the rows before, as a part of a time. Without it, a recipe
/// would have a range for every few rows, for gains that no prediction can tell.
constexpr double kChange = 0.004;
/// A kernel is taken where it makes the mean time shorter by more than this.
constexpr double kLeastGain = 0.0002;

/// Which kernels of a table a recipe may use.
using Chosen = std::vector<bool>;

[[nodiscard]] bool may_use(const Chosen& chosen, const Proposal& proposal) {
  return proposal.kernel == kNoKernel || chosen[proposal.kernel];
}

/// The kernels of winners, the most frequent ones first.
std::vector<std::size_t> winners_kernels(const RecipeTable& table, const RecipeWish& wish) {
  std::map<std::size_t, int> counts;
  for (const FixedRows& winner : wish.winners) {
    const std::size_t kernel = table.kernel_of(winner.config);
    if (kernel != kNoKernel) ++counts[kernel];
  }
  std::vector<std::size_t> list;
  list.reserve(counts.size());
  for (const auto& [kernel, count] : counts) list.push_back(kernel);
  std::ranges::stable_sort(list, std::greater{}, [&](std::size_t each) { return counts[each]; });
  return list;
}

/// The least cost at each number of rows with the proposals of one kernel.
std::vector<double> costs_with(const RecipeTable& table, std::size_t kernel) {
  std::vector<double> least;
  for (const std::vector<double>& costs : table.costs) {
    double best = kNeverFast;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      if (table.proposals[i].kernel == kernel) best = std::min(best, costs[i]);
    }
    least.push_back(best);
  }
  return least;
}

/// Chooses kernels by the sum of the least costs at all numbers of rows.
class KernelChoice {
 public:
  explicit KernelChoice(const RecipeTable& table)
      : chosen_(table.kernels.size()), without_(costs_with(table, kNoKernel)) {
    // Where nothing can run without a kernel, every kernel is worth as much as a slow one.
    constexpr double kSlow = 10;
    for (double& cost : without_) cost = std::min(cost, kSlow);
    for (std::size_t i = 0; i < chosen_.size(); ++i) with_.push_back(costs_with(table, i));
  }

  [[nodiscard]] std::size_t count() const { return list_.size(); }
  [[nodiscard]] const Chosen& chosen() const { return chosen_; }

  void take(std::size_t kernel) {
    chosen_[kernel] = true;
    list_.push_back(kernel);
  }

  /// Takes the kernel that gains most. False where none gains enough.
  bool take_best() {
    const std::vector<double> present = least(kNoKernel);
    const auto [best, cost] = best_beside(present);
    if (sum(present) - cost <= kLeastGain * static_cast<double>(present.size())) return false;
    take(best);
    return true;
  }

  /// Replaces kernels behind the first `fixed` ones as long as that gains something.
  void improve(std::size_t fixed) {
    constexpr int kRounds = 4;
    bool better = true;
    for (int round = 0; round < kRounds && better; ++round) {
      better = false;
      for (std::size_t i = fixed; i < list_.size(); ++i) better |= replace(i);
    }
  }

 private:
  bool replace(std::size_t place) {
    const std::size_t old = list_[place];
    const double before = sum(least(kNoKernel));
    const auto [best, cost] = best_beside(least(old));
    if (cost >= before) return false;
    chosen_[old] = false;
    chosen_[best] = true;
    list_[place] = best;
    return true;
  }

  /// The least costs with the chosen kernels but `left_out`.
  [[nodiscard]] std::vector<double> least(std::size_t left_out) const {
    std::vector<double> costs = without_;
    for (const std::size_t kernel : list_) {
      if (kernel != left_out) lower(costs, kernel);
    }
    return costs;
  }
  void lower(std::vector<double>& costs, std::size_t kernel) const {
    for (std::size_t i = 0; i < costs.size(); ++i) costs[i] = std::min(costs[i], with_[kernel][i]);
  }
  static double sum(const std::vector<double>& costs) {
    return std::accumulate(costs.begin(), costs.end(), 0.0);
  }

  /// The kernel that is not chosen and makes the sum least, and this sum.
  [[nodiscard]] std::pair<std::size_t, double> best_beside(const std::vector<double>& costs) const {
    std::pair<std::size_t, double> best{kNoKernel, sum(costs)};
    for (std::size_t i = 0; i < chosen_.size(); ++i) {
      if (chosen_[i]) continue;
      std::vector<double> lowered = costs;
      lower(lowered, i);
      if (const double cost = sum(lowered); cost < best.second) best = {i, cost};
    }
    return best;
  }

  Chosen chosen_;
  std::vector<double> without_;              ///< least costs with no kernel
  std::vector<std::vector<double>> with_{};  ///< with each kernel alone
  std::vector<std::size_t> list_{};
};

/// The kernels of winners, then those that gain most.
Chosen chosen_kernels(const RecipeTable& table, const RecipeWish& wish) {
  KernelChoice choice(table);
  const auto most = static_cast<std::size_t>(std::max(0, wish.most_kernels));
  for (const std::size_t kernel : winners_kernels(table, wish)) {
    if (choice.count() < most) choice.take(kernel);
  }
  const std::size_t of_winners = choice.count();
  while (choice.count() < most && choice.take_best()) {
  }
  choice.improve(of_winners);
  return choice.chosen();
}

/// The proposal for each number of rows, so that costs and changes together are least.
std::vector<std::size_t> chosen_proposals(const RecipeTable& table, const Chosen& chosen) {
  const std::size_t count = table.proposals.size();
  std::vector<double> sums(count, 0);
  std::vector<std::vector<std::size_t>> before;
  for (const std::vector<double>& costs : table.costs) {
    const auto best =
        static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
    const double changed = sums[best] + kChange;
    std::vector<std::size_t>& from = before.emplace_back(count);
    for (std::size_t i = 0; i < count; ++i) {
      from[i] = sums[i] <= changed ? i : best;
      const double cost = may_use(chosen, table.proposals[i]) ? costs[i] : kNeverFast;
      sums[i] = std::min(sums[i], changed) + cost;
    }
  }
  std::vector<std::size_t> list(table.costs.size());
  auto at = static_cast<std::size_t>(std::min_element(sums.begin(), sums.end()) - sums.begin());
  for (std::size_t i = list.size(); i-- > 0;) {
    list[i] = at;
    at = before[i][at];
  }
  return list;
}

std::vector<RecipeRange> ranges_of(const RecipeTable& table,
                                   const std::vector<std::size_t>& proposals,
                                   std::int64_t most_rows) {
  std::vector<RecipeRange> ranges;
  std::int64_t from = 1;
  for (std::size_t i = 0; i < proposals.size(); ++i) {
    const bool goes_on = i + 1 < proposals.size() && proposals[i + 1] == proposals[i];
    if (goes_on) continue;
    RecipeRange range = table.proposals[proposals[i]].range;
    range.from = from;
    range.to = std::min(table.rows[i], most_rows);
    from = range.to + 1;
    ranges.push_back(std::move(range));
  }
  return ranges;
}

/// Gives the rows of a winner its config.
void fix(std::vector<RecipeRange>& ranges, const FixedRows& winner) {
  const auto at = std::ranges::find_if(ranges, [&](const RecipeRange& range) {
    return range.from <= winner.rows && winner.rows <= range.to;
  });
  if (at == ranges.end()) return;
  const RecipeRange whole = *at;
  std::vector<RecipeRange> parts;
  if (whole.from < winner.rows) parts.push_back(whole);
  if (whole.from < winner.rows) parts.back().to = winner.rows - 1;
  parts.push_back({.from = winner.rows, .to = winner.rows, .config = winner.config});
  if (winner.rows < whole.to) parts.push_back(whole);
  if (winner.rows < whole.to) parts.back().from = winner.rows + 1;
  const auto place = ranges.erase(at);
  ranges.insert(place, parts.begin(), parts.end());
}

}  // namespace

Expected<Recipe> make_recipe(const LearnedModel& model, const Weight& weight,
                             const RecipeWish& wish) {
  const auto sound = validated(problem_of(weight, least_rows(weight)));
  if (!sound) return error_of(sound);
  if (wish.most_rows < 1 || wish.most_rows > kLargestSize / 2) {
    return bad_input("recipe: rows = " + std::to_string(wish.most_rows) + ": expected 1 to " +
                     std::to_string(kLargestSize / 2));
  }
  const auto table = recipe_table(model, weight, wish);
  if (!table) return error_of(table);
  const Chosen chosen = chosen_kernels(*table, wish);
  Recipe recipe{.weight = weight,
                .launch = wish.launch,
                .sms = model.analytic().platform().sms - wish.free_sms};
  recipe.ranges = ranges_of(*table, chosen_proposals(*table, chosen), wish.most_rows);
  for (const FixedRows& winner : wish.winners) {
    const std::size_t kernel = table->kernel_of(winner.config);
    const bool is_used =
        tile_of(winner.config).is_library() || (kernel != kNoKernel && chosen[kernel]);
    if (is_used) fix(recipe.ranges, winner);
  }
  return validated(std::move(recipe));
}

}  // namespace overlaptune
