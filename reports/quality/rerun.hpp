#pragma once
// Choices judged by a second run, in which the picks and the fastest configs run once more side by
// side. The fastest of many measurements was partly lucky, so regret against it is too large.

#include <optional>
#include <vector>

#include "reports/quality/evaluation.hpp"

namespace overlaptune {

/// The configs of one problem that are to run in turn.
struct Rerun {
  Problem problem{};
  Launch launch{};
  std::vector<Config> configs{};  ///< `sequential` first, each once
  std::vector<Microseconds> predicted{};
  std::size_t first_choice = 0;  ///< the model's first choice (the next one where it failed)
  std::size_t of_shortlist = 0;  ///< the fastest of the shortlist's first and of `sequential`
};

/// A rerun for each problem of the platform with a proposal of the model that ran. It has the picks
/// and the `fastest` best measured configs.
[[nodiscard]] std::vector<Rerun> reruns(const Snapshot& snapshot, PlatformId platform,
                                        int shortlist, int fastest);

/// The regret in a second run. `ratios` has one list for each rerun: the times of its configs
/// divided by that of `sequential`, NaN where a config did not run.
[[nodiscard]] RegretSummary regret_of(const std::vector<Rerun>& reruns,
                                      const std::vector<std::vector<double>>& ratios);

}  // namespace overlaptune
