#pragma once
// How each kind of probe is measured (the meaning of each: core/measurement.hpp). Collective calls;
// error: `bad_input`, the same on every rank.

#include "machine/cuda/wire/messages.hpp"
#include "machine/cuda/worker/workbench.hpp"

namespace overlaptune::cuda {

[[nodiscard]] Expected<Samples> measure_gemm(Workbench& bench, const GemmProbe& probe);
[[nodiscard]] Expected<Samples> measure_collective(Workbench& bench, const CollectiveProbe& probe);
[[nodiscard]] Expected<Samples> measure_concurrent(Workbench& bench, const ConcurrentProbe& probe);
[[nodiscard]] Expected<Samples> measure_sustained(Workbench& bench, const SustainedProbe& probe);
[[nodiscard]] Expected<Samples> measure_copy(Workbench& bench, const CopyProbe& probe);
[[nodiscard]] Expected<Samples> measure_launch(Workbench& bench, const LaunchProbe& probe);

/// The generated GEMM of a probe with a tile (collective; an error on one rank is one on all), and
/// its launch by a crew: all of C as one segment, with signals on `counter`, which nobody waits
/// for.
[[nodiscard]] Expected<const run::GeneratedGemm*> generated_gemm(Workbench& bench,
                                                                 const GemmProbe& probe);
[[nodiscard]] run::GeneratedLaunch generated_launch(const run::GeneratedGemm& gemm,
                                                    const GemmProbe& probe, const run::Crew& crew,
                                                    const run::GemmOperands& operands,
                                                    void* counter);

/// Probes of collectives count bytes; their elements have this type.
inline constexpr Dtype kMovedDtype = Dtype::bf16;

/// A collective's buffers: what `run::enqueue` takes for `count` elements in all.
struct CollectiveBuffers {
  void* send = nullptr;
  void* receive = nullptr;
};
[[nodiscard]] CollectiveBuffers take_buffers(Bump& bump, const CollectiveProbe& probe);

/// The whole buffer in elements, a multiple of what every rank's part must be.
[[nodiscard]] std::int64_t element_count(const CollectiveProbe& probe);
/// Error (`bad_input`): what these ranks cannot move so.
[[nodiscard]] Expected<run::CommKey> route_of(Workbench& bench, const CollectiveProbe& probe);
/// By NCCL, copy engines or peer access, as the route says.
void enqueue_collective(Workbench& bench, cudaStream_t stream, const run::CommKey& route,
                        Collective collective, const CollectiveBuffers& buffers,
                        std::int64_t count);

}  // namespace overlaptune::cuda
