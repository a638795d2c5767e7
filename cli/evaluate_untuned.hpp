#pragma once
// `evaluate --untuned`: how good the answers are for problems that were not tuned.

#include <cstdint>
#include <string>

#include "machine/machine.hpp"
#include "reports/table/table.hpp"
#include "tuner/untuned.hpp"

namespace overlaptune::cli {

/// Draws so many problems near those that have winners, takes the answer for each as `query` gives
/// it, and measures it. Returns what was measured before a signal came, if one does. Throws
/// `Failure` where the database has no winner or no probes of the machine's platform, or the
/// machine is lost.
[[nodiscard]] std::vector<UntunedResult> run_untuned(Machine& machine, const std::string& database,
                                                     int count, std::uint64_t seed);

/// One line that sums up: errors, regret, how many are slower than `sequential`.
[[nodiscard]] Table untuned_summary(const std::vector<UntunedResult>& results);

/// One line for each problem.
[[nodiscard]] Table untuned_table(const std::vector<UntunedResult>& results);

}  // namespace overlaptune::cli
