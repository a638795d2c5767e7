#pragma once
// Measuring candidates on the machine, and the times that a winner is compared with.

#include <optional>
#include <vector>

#include "core/config/candidate.hpp"
#include "machine/machine.hpp"
#include "model/model.hpp"

namespace overlaptune {

/// Runs a candidate interleaved with `sequential` and fills in verdict, measured time, speedup and
/// conditions. Where the candidate is `sequential`, it is compared with itself. The predicted times
/// of both tell the machine how long to wait.
/// Error: the machine is lost, or cannot hold the problem.
[[nodiscard]] Expected<Candidate> validate(Machine& machine, Candidate candidate,
                                           const Candidate& sequential);

/// A candidate with the result of a run beside `sequential` filled in.
[[nodiscard]] Candidate judged(Candidate candidate, const RunResult& result,
                               const RunResult& sequential);

/// The time of the fastest plain GEMM that is known for the problem: of the GEMM library's, and of
/// the generated ones with the tiles of `tiled`, on all SMs. It is not stored as a probe, because
/// the model must not be fitted to the problems that it is judged by.
[[nodiscard]] Expected<Microseconds> fastest_gemm(Machine& machine, const Problem& problem,
                                                  const std::vector<Config>& tiled);

/// The time of the fastest collective that is known for the problem, whole or in equal pieces, with
/// the CTA counts and transports of `settings`.
[[nodiscard]] Expected<Microseconds> fastest_collective(Machine& machine, const Problem& problem,
                                                        const std::vector<Config>& settings);

}  // namespace overlaptune
