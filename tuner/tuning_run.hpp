#pragma once
// The stored run that results of tuning belong to: a new run, or the last one continued, and the
// work that it has then.

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "core/problem.hpp"
#include "db/store.hpp"
#include "tuner/tuner.hpp"

namespace overlaptune {

/// The request of a run, as one line of text.
[[nodiscard]] std::string request_of(std::span<const Problem> problems, const TuneOptions& options);

/// Begins a run, or with `options.resume` continues the platform's last run where there is one.
/// Error: `bad_input` where that run had another request.
[[nodiscard]] Expected<TuningRun> open_run(Store& store, PlatformId platform,
                                           std::span<const Problem> problems,
                                           const TuneOptions& options);

/// The work that a run which is continued already has.
class StoredWork {
 public:
  /// Reads how many candidates the run has of each problem and launch. None in a new run.
  StoredWork(const Store& store, const TuningRun& run, std::span<const Problem> problems,
             std::span<const Launch> launches);

  /// Whether there are fewer candidates than the problem with the most has. So it is where the
  /// budget cut a problem short or never reached it, and where few configs are legal: such a
  /// problem costs only the search for its proposals.
  [[nodiscard]] bool is_short(const Problem& problem, Launch launch) const;

  /// Whether the run was at any of these problems.
  [[nodiscard]] bool has_any(std::span<const Problem> problems) const;

  /// The winner that this run stored for a problem that is not short; none otherwise.
  [[nodiscard]] std::optional<Winner> finished(const Problem& problem, Launch launch) const;

 private:
  const Store& store_;
  TuningRun run_;
  std::map<std::pair<Problem, Launch>, std::size_t> counts_{};
  std::size_t most_ = 0;
};

}  // namespace overlaptune
