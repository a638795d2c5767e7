#pragma once
// What to measure on a machine, and in which order.

#include <functional>
#include <span>
#include <vector>

#include "core/measurement.hpp"
#include "db/store.hpp"
#include "machine/machine.hpp"

namespace overlaptune {

/// `quick` has every kind of probe, in fewer sizes, CTA counts and shapes: enough for a first look,
/// and part of what `full` has.
enum class ProbeDepth { quick, full };

/// The probes that the model needs for problems of these rank counts, cheapest knowledge first
/// (launch costs, copies, collectives, GEMM, contention).
[[nodiscard]] std::vector<Probe> probe_plan(const Platform& platform,
                                            std::span<const Transport> transports,
                                            std::span<const int> ranks,
                                            ProbeDepth depth = ProbeDepth::full);

/// What `Machine::prepare` is to make ready for them.
[[nodiscard]] std::vector<TiledKernel> kernels_of(std::span<const Probe> probes);

struct ProbeReport {
  int measured = 0;
  int known = 0;    ///< already in the database
  int skipped = 0;  ///< this machine cannot do them
};

/// Called after each probe; returning false stops cleanly.
using Progress = std::function<bool(std::size_t done, std::size_t total, std::string_view what)>;

/// Measures those probes of the plan that `store` lacks for this platform, saving each at once.
/// With `again` all are measured anew.
[[nodiscard]] Expected<ProbeReport> run_probes(Machine& machine, Store& store,
                                               std::span<const Probe> plan,
                                               const Provenance& provenance, bool again,
                                               const Progress& progress);

}  // namespace overlaptune
