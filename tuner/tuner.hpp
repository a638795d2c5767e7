#pragma once
// A tuning run: prepare (probe, fit), then for each problem propose candidates, judge them on the
// machine, and keep the winner. Each step has a header of its own.

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
  int top_k = 8;    ///< candidates that the model proposes for each problem
  int explore = 0;  ///< candidates drawn for each problem without asking the model
  std::vector<Launch> launches{Launch::graph};
  std::optional<std::chrono::duration<double>>
      budget{};                          ///< no new probe or candidate after this long; problems
                                         ///< share what probing leaves
  ProbeDepth probes = ProbeDepth::full;  ///< depth of the probe plan
  /// Rounds of probes of generated GEMMs at the sizes of the problems (`tuner/layer_probes`); 0:
  /// none.
  int layer_rounds = 2;
  /// Problems that are probed and tuned together. Of many problems the first have winners before
  /// the others are probed, and what is finished is kept if the run ends early.
  std::size_t batch = 32;
  bool resume = false;      ///< continue the platform's last run, which must have the same request
  Provenance provenance{};  ///< its seed draws the `explore` candidates
  /// The products of models that the problems come from, where known; stored with the run.
  std::vector<LayerGemm> gemms{};
};

struct TuneReport {
  TuningRunId run = 0;
  /// Problems that had too little of the budget for all their candidates. Resumed, the run goes on
  /// with them.
  std::vector<Problem> cut{};
  std::vector<Winner> winners{};  ///< one for each finished problem and launch, in the order asked
  int measured = 0;               ///< candidates measured now
  int resumed = 0;                ///< candidates found in the database
  int failed = 0;                 ///< candidates measured now that are not valid
  bool stopped = false;           ///< the budget or `progress` ended the run early
};

/// Probes what is missing, then tunes each problem, batch by batch. Every result is in `store`
/// before the next is measured. The winner of a problem that was finished is traced once, unless it
/// is `sequential`; where the trace fails or the machine cannot trace, only the overlap fraction is
/// absent, and the log says so. A resumed run shares its budget among the problems that had too
/// little of it and those that it has not reached, in this order. Problems of batches behind it
/// keep their winners and cost nothing; those of the batch in which it stopped are judged again
/// from what is stored, so that the run takes the same way. A problem that does not fit the
/// machine's memory is left out. Error: `bad_input` (a problem with more ranks than the machine
/// has; a resumed run with another request), `machine_unavailable`, `nothing_validated` (no problem
/// has a winner).
[[nodiscard]] Expected<TuneReport> tune(Machine& machine, Store& store,
                                        std::span<const Problem> problems,
                                        const TuneOptions& options, const Progress& progress);

}  // namespace overlaptune
