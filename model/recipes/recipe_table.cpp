#include "model/recipes/recipe_table.hpp"

#include <algorithm>
#include <cmath>

#include "core/config/strategies.hpp"
#include "model/parts.hpp"

namespace overlaptune {
namespace {

/// Rows of one row block from one place in the table to the next. Tiles have heights that are
/// multiples of the first; which of them suits depends on all of these rows where they are few.
constexpr std::int64_t kFineStep = 16;
constexpr std::int64_t kStep = 64;
constexpr std::int64_t kFew = 2048;
/// From one place to the next there are at most this part more rows, where they are many.
constexpr double kFinest = 1.0 / 48;
/// Searches are made at rows this factor apart.
constexpr double kSearchStep = 1.08;
/// A config that was found for some rows is looked at up to so many times more or fewer.
constexpr double kWindow = 1.35;
/// Configs of one search that are proposals: the best ones, up to this much slower.
constexpr int kProposals = 8;
constexpr double kWorthALook = 1.1;
/// Cost that a config may have more because its kernel was run before.
constexpr double kKnownKernel = 1.02;

std::vector<std::int64_t> rows_of(const Weight& weight, std::int64_t most_rows) {
  const std::int64_t unit = row_unit(weight);
  std::vector<std::int64_t> list;
  for (std::int64_t block = 1; block < kFineStep; block *= 2) list.push_back(block * unit);
  for (std::int64_t block = kFineStep; block * unit < most_rows;) {
    list.push_back(block * unit);
    const std::int64_t step = block < kFew ? kFineStep : kStep;
    const auto finest = static_cast<std::int64_t>(static_cast<double>(block) * kFinest);
    block += std::max(step, finest / step * step);
  }
  std::erase_if(list, [&](std::int64_t rows) { return rows >= most_rows; });
  list.push_back((most_rows + unit - 1) / unit * unit);
  return list;
}

class TableMaker {
 public:
  TableMaker(const LearnedModel& model, const Weight& weight, const RecipeWish& wish)
      : model_(model),
        weight_(weight),
        wish_(wish),
        analytic_(model.analytic().leaving(wish.free_sms)) {}

  [[nodiscard]] Expected<RecipeTable> made() {
    table_.rows = rows_of(weight_, wish_.most_rows);
    for (const FixedRows& winner : wish_.winners) {
      propose(problem_of(weight_, winner.rows), winner.config);
    }
    double next = 0;
    for (const std::int64_t rows : table_.rows) {
      const bool is_last = rows == table_.rows.back();
      if (static_cast<double>(rows) < next && !is_last) continue;
      next = static_cast<double>(rows) * kSearchStep;
      if (auto searched = search(rows); !searched) return error_of(searched);
    }
    for (const std::int64_t rows : table_.rows) table_.costs.push_back(costs_at(rows));
    return std::move(table_);
  }

 private:
  [[nodiscard]] bool allows(Strategy strategy) const {
    return considers({.strategies = wish_.strategies}, strategy);
  }

  Expected<void> search(std::int64_t rows) {
    const Problem problem = problem_of(weight_, rows);
    const auto ranking = model_.rank(
        problem, wish_.launch,
        {.space = Space::subset,
         .best = kProposals,
         .strategies = wish_.strategies,
         .accepts = [&](const Config& config) { return model_.was_tried(problem.op, config); },
         .free_sms = wish_.free_sms});
    if (!ranking) return error_of(ranking);
    propose(problem, ranking->sequential.config);
    int taken = 0;
    std::optional<Microseconds> first;
    for (const LearnedScore& score : ranking->scores) {
      if (!allows(strategy_of(score.config))) continue;
      if (!first) first = score.time();
      if (score.time() > kWorthALook * *first || ++taken > kProposals) break;
      propose(problem, score.config);
    }
    return {};
  }

  void propose(const Problem& problem, const Config& config) {
    Proposal made{.range = scalable(problem, config)};
    const auto rows = static_cast<double>(problem.m);
    made.first = static_cast<std::int64_t>(rows / kWindow);
    made.last = static_cast<std::int64_t>(std::ceil(rows * kWindow));
    const auto known = std::ranges::find_if(table_.proposals, [&](const Proposal& each) {
      return each.range.config == made.range.config && each.range.shares == made.range.shares;
    });
    if (known != table_.proposals.end()) {
      known->first = std::min(known->first, made.first);
      known->last = std::max(known->last, made.last);
      return;
    }
    made.kernel = kernel_number(config);
    table_.proposals.push_back(std::move(made));
  }

  std::size_t kernel_number(const Config& config) {
    if (tile_of(config).is_library()) return kNoKernel;
    const std::size_t known = table_.kernel_of(config);
    if (known != kNoKernel) return known;
    table_.kernels.push_back({strategy_of(config), tile_of(config), tiles_push(config)});
    return table_.kernels.size() - 1;
  }

  [[nodiscard]] std::vector<double> costs_at(std::int64_t rows) const {
    const Problem problem = problem_of(weight_, rows);
    const ProblemCorrections corrections = model_.around(problem, wish_.launch);
    const int sms = analytic_.parts().platform.sms;
    std::vector<double> costs(table_.proposals.size(), kNeverFast);
    std::optional<LearnedScore> first;
    std::optional<LearnedScore> sequential;
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const Proposal& proposal = table_.proposals[i];
      if (rows < proposal.first || rows > proposal.last) continue;
      const Config config = scaled(proposal.range, problem, sms);
      const auto prediction = analytic_.predict(problem, config, wish_.launch);
      if (!prediction) continue;
      const LearnedScore score = score_of(config, *prediction, corrections);
      const bool is_baseline = strategy_of(config) == kBaseline;
      if (is_baseline && (!sequential || score.time() < sequential->time())) sequential = score;
      if (!allows(strategy_of(config))) continue;
      if (!first || score.time() < first->time()) first = score;
      const bool is_known = is_baseline || model_.has_kernels_of(problem, config);
      costs[i] = score.time().count() * (is_known ? 1 : kKnownKernel);
    }
    keep_sequential_if_unsure(corrections, first, sequential, costs);
    const double least = *std::min_element(costs.begin(), costs.end());
    for (double& cost : costs) cost = cost == kNeverFast ? kNeverFast : cost / least;
    return costs;
  }

  /// `Ranking::choice` tells the order. Where nothing that is allowed can run, `sequential` stays,
  /// too.
  void keep_sequential_if_unsure(const ProblemCorrections& corrections,
                                 const std::optional<LearnedScore>& first,
                                 const std::optional<LearnedScore>& sequential,
                                 std::vector<double>& costs) const {
    if (!sequential || (first && first->config == sequential->config)) return;
    if (first) {
      if (!allows(kBaseline) || corrections.rows() == 0) return;
      if (is_surely_faster(*first, *sequential, corrections)) return;
    }
    for (std::size_t i = 0; i < costs.size(); ++i) {
      const Config& config = table_.proposals[i].range.config;
      if (strategy_of(config) != kBaseline) costs[i] = kNeverFast;
      if (config == sequential->config) costs[i] = sequential->time().count();
    }
  }

  const LearnedModel& model_;
  const Weight& weight_;
  const RecipeWish& wish_;
  Model analytic_;
  RecipeTable table_{};
};

}  // namespace

std::size_t RecipeTable::kernel_of(const Config& config) const {
  const TileKernel wanted{strategy_of(config), tile_of(config), tiles_push(config)};
  const auto found = std::find(kernels.begin(), kernels.end(), wanted);
  return found == kernels.end() ? kNoKernel : static_cast<std::size_t>(found - kernels.begin());
}

Expected<RecipeTable> recipe_table(const LearnedModel& model, const Weight& weight,
                                   const RecipeWish& wish) {
  return TableMaker(model, weight, wish).made();
}

}  // namespace overlaptune
