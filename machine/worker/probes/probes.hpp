#pragma once
// The measurement of each kind of probe (the meaning of each: core/measurement.hpp). All calls are
// collective. Error: `bad_input`, the same on every rank.

#include <string>

#include "machine/controller/wire/messages.hpp"
#include "machine/worker/workbench.hpp"

namespace overlaptune::cuda {

[[nodiscard]] Expected<Samples> measure(Workbench& bench, const GemmProbe& probe);
[[nodiscard]] Expected<Samples> measure(Workbench& bench, const CollectiveProbe& probe);
[[nodiscard]] Expected<Samples> measure(Workbench& bench, const ConcurrentProbe& probe);
[[nodiscard]] Expected<Samples> measure(Workbench& bench, const SustainedProbe& probe);
[[nodiscard]] Expected<Samples> measure(Workbench& bench, const CopyProbe& probe);
[[nodiscard]] Expected<Samples> measure(Workbench& bench, const LaunchProbe& probe);
[[nodiscard]] Expected<Samples> measure(Workbench& bench, const PeerProbe& probe);
[[nodiscard]] inline Expected<Samples> measure(Workbench&, const LayerProbe&) {
  return bad_input(std::string(kLayerProbeElsewhere));
}

/// The generated GEMM of a probe with a tile (collective; an error on one rank is an error on all),
/// and its launch by a crew: all of C is one segment, and the signals go to `counter`, for which
/// nothing waits.
[[nodiscard]] Expected<const run::GeneratedGemm*> generated_gemm(Workbench& bench,
                                                                 const GemmProbe& probe);
/// Room for A, B, C and the scales of a probe.
[[nodiscard]] run::GemmOperands take_operands(Bump& bump, const GemmProbe& probe);
/// Enqueues the filling of A, B and their scales, if the probe's elements have some. `set`: sets of
/// different numbers get different elements.
void fill(cudaStream_t stream, const GemmProbe& probe, const run::GemmOperands& operands,
          std::size_t set);
[[nodiscard]] run::GeneratedLaunch generated_launch(const run::GeneratedGemm& gemm,
                                                    const GemmProbe& probe, const run::Crew& crew,
                                                    const run::GemmOperands& operands,
                                                    void* counter);

/// Probes of collectives count bytes; their elements have this type.
inline constexpr Dtype kMovedDtype = Dtype::bf16;

/// The buffers of a collective, which `run::enqueue` takes.
struct CollectiveBuffers {
  void* send = nullptr;
  void* receive = nullptr;
};
[[nodiscard]] CollectiveBuffers take_buffers(Bump& bump, const CollectiveProbe& probe);

/// Number of elements in the whole buffer: a whole number of smallest parts for every rank.
[[nodiscard]] std::int64_t element_count(const CollectiveProbe& probe);
/// The communicator and transport of a probe. Error (`bad_input`): why these ranks cannot run it.
[[nodiscard]] Expected<run::CommKey> route_of(Workbench& bench, const CollectiveProbe& probe);

}  // namespace overlaptune::cuda
