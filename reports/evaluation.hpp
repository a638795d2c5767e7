#pragma once
// How good the model is: errors of its predictions, and what following it costs.

#include <string>
#include <vector>

#include "reports/snapshot.hpp"
#include "reports/table.hpp"

namespace overlaptune {

/// Of |predicted - measured| / measured, as fractions; NaN where `count` is 0.
struct ErrorSummary {
  std::string name{};
  int count = 0;
  double mean = 0;
  double median = 0;
  double p90 = 0;
  double max = 0;
};

/// Of (picked - best) / best, as fractions, where best is the fastest of everything valid that was
/// ever measured for the same platform, problem and launch. NaN where `problems` is 0.
struct RegretSummary {
  int problems = 0;
  double top1_mean = 0;  ///< picked: the model's first choice (the next one where that failed)
  double top1_max = 0;
  double shortlist_mean = 0;  ///< picked: the fastest of the shortlist's first and of `sequential`
  double shortlist_max = 0;
};

/// Of one problem.
struct Regret {
  double top1 = 0;
  double shortlist = 0;
};
[[nodiscard]] RegretSummary summary_of(const std::vector<Regret>& regrets);

struct Evaluation {
  int shortlist = 0;          ///< how many of the shortlist count
  ErrorSummary error{};       ///< every valid candidate but `sequential`
  ErrorSummary sequential{};  ///< the baseline apart
  RegretSummary regret{};
  std::vector<ErrorSummary> strategies{};
  std::vector<ErrorSummary> ops{};
  std::vector<ErrorSummary> platforms{};
  std::vector<ErrorSummary> origins{};  ///< shortlist and explore
};

/// Of a config measured in several runs the newest counts. Picks are those of the newest run that
/// has any for the problem.
[[nodiscard]] Evaluation evaluate(const Snapshot& snapshot, int shortlist);

/// Fields as in docs/cli.md; fractions, NaN (null once written) where nothing was there to judge.
[[nodiscard]] OrderedJson json_of(const Evaluation& evaluation);

/// One row a breakdown, errors in percent.
[[nodiscard]] Table error_table(const Evaluation& evaluation);
[[nodiscard]] Table regret_table(const RegretSummary& regret, int shortlist);

}  // namespace overlaptune
