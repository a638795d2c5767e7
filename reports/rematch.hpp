#pragma once
// Choices judged anew: what was picked and what was fastest, run once more side by side. The
// fastest of many measurements was partly lucky, and regret against it is too large.

#include <optional>
#include <vector>

#include "reports/evaluation.hpp"

namespace overlaptune {

/// Configs of one problem to be run in turn.
struct Rematch {
  Problem problem{};
  Launch launch{};
  std::vector<Config> configs{};  ///< `sequential` first, each once
  std::vector<Microseconds> predicted{};
  std::size_t first_choice = 0;  ///< of the model (the next one where that failed)
  std::size_t of_shortlist = 0;  ///< the fastest of the shortlist's first and of `sequential`
};

/// One for each problem of the platform for which the model proposed anything that ran: the picks
/// and the `fastest` best that were measured.
[[nodiscard]] std::vector<Rematch> rematches(const Snapshot& snapshot, PlatformId platform,
                                             int shortlist, int fastest);

/// Times over those of `sequential`, one list a rematch, NaN for what did not run.
[[nodiscard]] RegretSummary regret_of(const std::vector<Rematch>& rematches,
                                      const std::vector<std::vector<double>>& ratios);

}  // namespace overlaptune
