#pragma once
// The quality of the model: the errors of its predictions, and the regret of following them.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "reports/quality/picks.hpp"
#include "reports/snapshot.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// Summary of |predicted - measured| / measured, as fractions; NaN where `count` is 0.
struct ErrorSummary {
  std::string name{};
  int count = 0;
  double mean = 0;
  double median = 0;
  double p90 = 0;
  double max = 0;
};

/// Summary of regret, (picked - best) / best, as fractions. `best` is the fastest valid candidate
/// that was ever measured for the same platform, problem and launch. NaN where `problems` is 0.
struct RegretSummary {
  int problems = 0;
  double top1_mean = 0;  ///< picked: the model's first choice (the next one where it failed)
  double top1_max = 0;
  double shortlist_mean = 0;  ///< picked: the fastest of the shortlist's first and of `sequential`
  double shortlist_max = 0;
};

/// The regret of one problem, as fractions.
struct Regret {
  double top1 = 0;
  double shortlist = 0;
};
/// None where no proposal of the model ran.
[[nodiscard]] std::optional<Regret> regret_of(const Rows& rows, int shortlist);
[[nodiscard]] RegretSummary summary_of(const std::vector<Regret>& regrets);

/// The quality of the model on one platform.
struct Evaluation {
  std::string platform{};     ///< its name (`Snapshot::platform_name`)
  int shortlist = 0;          ///< how many candidates of the shortlist count
  ErrorSummary error{};       ///< every valid candidate but `sequential`
  ErrorSummary sequential{};  ///< `sequential` alone
  RegretSummary regret{};
  std::vector<ErrorSummary> strategies{};
  std::vector<ErrorSummary> ops{};
  std::vector<ErrorSummary> origins{};  ///< shortlist and explore
};

/// Judges the predictions and picks for a platform. Of a config that was measured in several runs,
/// the newest row counts. The picks are those of the newest run that has any for the problem.
[[nodiscard]] Evaluation evaluate(const Snapshot& snapshot, PlatformId platform, int shortlist);

/// Judges each platform that has measured candidates. Platforms are not averaged: one may be
/// simulated.
[[nodiscard]] std::vector<Evaluation> evaluate(const Snapshot& snapshot, int shortlist);

/// The fields of docs/cli.md, as fractions; NaN (written as null) where there was nothing to judge.
[[nodiscard]] OrderedJson json_of(const Evaluation& evaluation);

/// A table with one row for each platform and breakdown, errors in percent.
[[nodiscard]] Table error_table(std::span<const Evaluation> evaluations);
[[nodiscard]] Table regret_table(std::span<const Evaluation> evaluations);

}  // namespace overlaptune
