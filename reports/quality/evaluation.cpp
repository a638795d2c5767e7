#include "reports/quality/evaluation.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/statistics.hpp"

namespace overlaptune {
namespace {

double time_of(const StoredCandidate& row) {
  return row.candidate.measured->median.count();
}

ErrorSummary summary_of(std::string name, const std::vector<double>& errors) {
  const auto largest = std::max_element(errors.begin(), errors.end());
  return {.name = std::move(name),
          .count = static_cast<int>(errors.size()),
          .mean = mean(errors),
          .median = quantile(errors, 0.5),
          .p90 = quantile(errors, 0.9),
          .max = largest == errors.end() ? std::nan("") : *largest};
}

/// The errors of one breakdown by name, in the order in which the names first appear.
class Breakdown {
 public:
  void add(std::string_view name, double error) { errors_[std::string(name)].push_back(error); }
  [[nodiscard]] std::vector<ErrorSummary> summaries() const {
    std::vector<ErrorSummary> list;
    list.reserve(errors_.size());
    for (const auto& [name, errors] : errors_) list.push_back(summary_of(name, errors));
    return list;
  }

 private:
  std::map<std::string, std::vector<double>> errors_{};
};

/// NaN becomes null when the document is written.
OrderedJson errors_json(const ErrorSummary& summary) {
  OrderedJson object;
  if (!summary.name.empty()) object["name"] = summary.name;
  object["count"] = summary.count;
  object["error_mean"] = summary.mean;
  object["error_median"] = summary.median;
  object["error_p90"] = summary.p90;
  object["error_max"] = summary.max;
  return object;
}

OrderedJson errors_json(const std::vector<ErrorSummary>& summaries) {
  OrderedJson list = OrderedJson::array();
  for (const ErrorSummary& summary : summaries) list.push_back(errors_json(summary));
  return list;
}

}  // namespace

std::optional<Regret> regret_of(const Rows& rows, int shortlist) {
  const Microseconds unit = sequential_of(rows);
  const auto cost = [&](const StoredCandidate& row) {
    return paired_time(row.candidate, unit).count();
  };
  double best = INFINITY;
  for (const StoredCandidate* row : rows) {
    if (counts(row->candidate)) best = std::min(best, cost(*row));
  }
  const Rows ranked = proposals(rows);
  const auto first = std::find_if(ranked.begin(), ranked.end(),
                                  [](const auto* row) { return counts(row->candidate); });
  if (first == ranked.end()) return std::nullopt;
  // Where all of the shortlist failed and no baseline was measured, the first proposal that ran is
  // picked.
  const StoredCandidate* listed = fastest_listed(rows, shortlist);
  const double picked = cost(listed != nullptr ? *listed : **first);
  return Regret{.top1 = cost(**first) / best - 1, .shortlist = picked / best - 1};
}

RegretSummary summary_of(const std::vector<Regret>& regrets) {
  std::vector<double> top1;
  std::vector<double> shortlist;
  for (const Regret& regret : regrets) {
    top1.push_back(regret.top1);
    shortlist.push_back(regret.shortlist);
  }
  const auto largest = [](const std::vector<double>& list) {
    return list.empty() ? std::nan("") : *std::max_element(list.begin(), list.end());
  };
  return {.problems = static_cast<int>(regrets.size()),
          .top1_mean = mean(top1),
          .top1_max = largest(top1),
          .shortlist_mean = mean(shortlist),
          .shortlist_max = largest(shortlist)};
}

Evaluation evaluate(const Snapshot& snapshot, PlatformId platform, int shortlist) {
  std::vector<double> errors;
  std::vector<double> sequential;
  std::vector<Regret> regrets;
  Breakdown strategies;
  Breakdown ops;
  Breakdown origins;
  for (const auto& [key, rows] : newest_by_problem(snapshot.candidates)) {
    if (std::get<PlatformId>(key) != platform) continue;
    if (const auto regret = regret_of(rows, shortlist)) regrets.push_back(*regret);
    for (const StoredCandidate* row : rows) {
      const Candidate& candidate = row->candidate;
      if (!counts(candidate)) continue;
      const double error = std::abs(candidate.predicted.count() / time_of(*row) - 1);
      if (strategy_of(candidate.config) == kBaseline) {
        sequential.push_back(error);
        continue;
      }
      errors.push_back(error);
      strategies.add(to_string(strategy_of(candidate.config)), error);
      ops.add(to_string(candidate.problem.op), error);
      origins.add(to_string(candidate.origin), error);
    }
  }
  return {.platform = snapshot.platform_name(platform),
          .shortlist = shortlist,
          .error = summary_of("", errors),
          .sequential = summary_of("", sequential),
          .regret = summary_of(regrets),
          .strategies = strategies.summaries(),
          .ops = ops.summaries(),
          .origins = origins.summaries()};
}

std::vector<Evaluation> evaluate(const Snapshot& snapshot, int shortlist) {
  std::vector<Evaluation> list;
  for (const PlatformRecord& record : snapshot.platforms) {
    Evaluation evaluation = evaluate(snapshot, record.stored.id, shortlist);
    if (evaluation.error.count + evaluation.sequential.count > 0) {
      list.push_back(std::move(evaluation));
    }
  }
  return list;
}

OrderedJson json_of(const Evaluation& evaluation) {
  OrderedJson object{{"platform", evaluation.platform}};
  object.update(errors_json(evaluation.error));
  const RegretSummary& regret = evaluation.regret;
  object["problems"] = regret.problems;
  object["shortlist"] = evaluation.shortlist;
  object["regret_top1_mean"] = regret.top1_mean;
  object["regret_top1_max"] = regret.top1_max;
  object["regret_shortlist_mean"] = regret.shortlist_mean;
  object["regret_shortlist_max"] = regret.shortlist_max;
  object["sequential"] = errors_json(evaluation.sequential);
  object["breakdown"] = {{"strategy", errors_json(evaluation.strategies)},
                         {"op", errors_json(evaluation.ops)},
                         {"origin", errors_json(evaluation.origins)}};
  return object;
}

Table error_table(std::span<const Evaluation> evaluations) {
  Table table{
      .name = "prediction_error",
      .columns = columns_of(
          "platform, of, count, mean_percent:2, median_percent:2, p90_percent:2, max_percent:2")};
  for (const Evaluation& evaluation : evaluations) {
    const auto add = [&](const std::string& name, const ErrorSummary& summary) {
      table.rows.push_back({evaluation.platform, name, cell(summary.count), 100 * summary.mean,
                            100 * summary.median, 100 * summary.p90, 100 * summary.max});
    };
    add("all but sequential", evaluation.error);
    add("sequential", evaluation.sequential);
    const std::pair<const char*, const std::vector<ErrorSummary>*> breakdowns[] = {
        {"strategy", &evaluation.strategies},
        {"op", &evaluation.ops},
        {"origin", &evaluation.origins}};
    for (const auto& [title, summaries] : breakdowns) {
      for (const ErrorSummary& summary : *summaries) {
        add(fmt::format("{} {}", title, summary.name), summary);
      }
    }
  }
  return table;
}

Table regret_table(std::span<const Evaluation> evaluations) {
  Table table{.name = "regret",
              .columns = columns_of("platform, picked, problems, mean_percent:2, max_percent:2")};
  for (const Evaluation& evaluation : evaluations) {
    const RegretSummary& regret = evaluation.regret;
    table.rows.push_back({evaluation.platform, "the model's first choice", cell(regret.problems),
                          100 * regret.top1_mean, 100 * regret.top1_max});
    table.rows.push_back(
        {evaluation.platform, fmt::format("best of the first {}", evaluation.shortlist),
         cell(regret.problems), 100 * regret.shortlist_mean, 100 * regret.shortlist_max});
  }
  return table;
}

}  // namespace overlaptune
