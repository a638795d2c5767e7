#pragma once
// A tuning run: for each problem predict, shortlist, validate, and keep the winner.

#include <chrono>
#include <optional>
#include <span>
#include <vector>

#include "core/problem.hpp"
#include "db/store.hpp"
#include "machine/machine.hpp"
#include "probes/probes.hpp"

namespace overlaptune {

struct TuneOptions {
  int top_k = 8;    ///< candidates a problem that the model proposes
  int explore = 0;  ///< candidates a problem drawn without asking the model
  std::vector<Launch> launches{Launch::graph};
  std::optional<std::chrono::duration<double>> budget{};  ///< no new candidate after this long
  ProbeDepth probes = ProbeDepth::full;  ///< what is probed first, where it is missing
  bool resume = false;      ///< continue the platform's last run, which must be of the same request
  Provenance provenance{};  ///< its seed draws the `explore` candidates
};

struct TuneReport {
  TuningRunId run = 0;
  std::vector<Winner>
      winners{};         ///< one a problem and launch that was finished, in the order asked
  int measured = 0;      ///< candidates measured now
  int resumed = 0;       ///< candidates found in the database
  int failed = 0;        ///< candidates that are not valid
  bool stopped = false;  ///< by the budget or by `progress`, before all was done
};

/// Probes what is missing, then tunes each problem. Every result is in `store` before the next is
/// measured. The winner of a problem that was finished is traced once, unless it is `sequential`;
/// a trace that fails, or that the machine has no means for, costs the overlap fraction only, and
/// the log says so.
/// A problem that does not fit the memory is left out.
/// Error: `bad_input` (a problem of more ranks than there are; a resume of another request),
/// `machine_unavailable`, `nothing_validated` (no problem has a winner).
[[nodiscard]] Expected<TuneReport> tune(Machine& machine, Store& store,
                                        std::span<const Problem> problems,
                                        const TuneOptions& options, const Progress& progress);

}  // namespace overlaptune
