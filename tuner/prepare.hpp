#pragma once
// The first step of a tuning run: measure the missing probes, and fit the model to all of them.

#include <span>

#include "db/store.hpp"
#include "machine/machine.hpp"
#include "model/learned_model.hpp"
#include "tuner/explore.hpp"
#include "tuner/run_monitor.hpp"
#include "tuner/tuner.hpp"

namespace overlaptune {

/// Measures the probes that the database lacks: the platform's probe plan for the problems' rank
/// counts, then `options.layer_rounds` rounds of probes of generated GEMMs at the sizes of the
/// problems (`tuner/layer_probes`). A run with candidates has had its rounds and gets no more. The
/// function ends early, without an error, once the
/// monitor says stop. Error: the machine is lost, or the model cannot be fitted.
[[nodiscard]] Expected<void> probe_missing(Machine& machine, Store& store, const TuningRun& run,
                                           std::span<const Problem> problems,
                                           const TuneOptions& options, RunMonitor& monitor);

/// The model and the space that candidates are proposed from.
struct Prepared {
  LearnedModel model;
  ExploreSpace space;
};

/// Fits the model to all measurements of a platform, and teaches it what other runs than this one
/// measured, and this run for the problems `earlier`, of batches before. What this run measured of
/// other problems is learned again on its way, so that a run which was stopped takes the same way.
[[nodiscard]] Expected<Prepared> fit_stored(const Machine& machine, const Store& store,
                                            const TuningRun& run,
                                            std::span<const Problem> earlier = {},
                                            std::span<const Launch> launches = {});

}  // namespace overlaptune
