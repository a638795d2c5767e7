#pragma once
// The probes of a machine, in the order in which they are measured.

#include <array>
#include <functional>
#include <span>
#include <vector>

#include "core/measurement.hpp"
#include "db/store.hpp"
#include "machine/machine.hpp"

namespace overlaptune {

/// How much is probed. `quick` has every kind of probe in fewer sizes, CTA counts and shapes, all
/// of which `full` has too: enough for a first look.
enum class ProbeDepth { quick, full };

/// The elements that are probed where no problem asks for another rate class.
inline constexpr std::array<Elements, 1> kUsualElements{Elements::bf16};

/// The probes that the model needs for problems of these rank counts, cheapest first (launch costs,
/// copies, collectives, GEMM, contention). GEMMs are probed in one row of elements of each
/// rate class that is asked for (core/elements.hpp).
[[nodiscard]] std::vector<Probe> probe_plan(const Platform& platform,
                                            std::span<const Transport> transports,
                                            std::span<const int> ranks,
                                            ProbeDepth depth = ProbeDepth::full,
                                            std::span<const Elements> asked = kUsualElements);

/// The kernels that the probes need, for `Machine::prepare`.
[[nodiscard]] std::vector<TiledKernel> kernels_of(std::span<const Probe> probes);

struct ProbeReport {
  int measured = 0;
  int known = 0;     ///< already in the database
  int skipped = 0;   ///< this machine cannot do them
  int too_long = 0;  ///< left out: probes/cost_limit.hpp
};

/// Called after each probe; returning false stops cleanly.
using Progress = std::function<bool(std::size_t done, std::size_t total, std::string_view what)>;

/// Measures those probes of the plan that `store` lacks for this platform, saving each at once.
/// With `again` it measures all of them. Collectives that would take too long on the machine's
/// links are left out, and the log says how many (probes/cost_limit.hpp).
[[nodiscard]] Expected<ProbeReport> run_probes(Machine& machine, Store& store,
                                               std::span<const Probe> plan,
                                               const Provenance& provenance, bool again,
                                               const Progress& progress);

}  // namespace overlaptune
