#pragma once
// Candidates measured on the machine, and what a winner is compared with.

#include <optional>
#include <vector>

#include "core/candidate.hpp"
#include "machine/machine.hpp"
#include "model/model.hpp"

namespace overlaptune {

/// Runs a candidate interleaved with `sequential` and fills in verdict, measured time, speedup and
/// conditions. With `candidate.config == sequential` it is compared with itself. What is predicted
/// of both tells the machine when to give up waiting.
/// Error: the machine is lost, or cannot hold the problem.
[[nodiscard]] Expected<Candidate> validate(Machine& machine, Candidate candidate,
                                           const Candidate& sequential);

/// A candidate with what a run of it, beside `sequential`, brought.
[[nodiscard]] Candidate judged(Candidate candidate, const RunResult& result,
                               const RunResult& sequential);

/// The fastest plain GEMM that is known for the problem: the library's, and the given tiles' on all
/// SMs. Not stored as a probe: the model is never fitted on the problems that it is judged by.
[[nodiscard]] Expected<Microseconds> fastest_gemm(Machine& machine, const Problem& problem,
                                                  const std::vector<Config>& tiled);

/// The fastest collective that is known for the problem, whole or in equal pieces, over the CTA
/// counts and transports of `settings`.
[[nodiscard]] Expected<Microseconds> fastest_collective(Machine& machine, const Problem& problem,
                                                        const std::vector<Config>& settings);

/// The fastest valid candidate, by `paired_time`; none if no candidate is valid.
[[nodiscard]] const Candidate* fastest(const std::vector<Candidate>& candidates);

}  // namespace overlaptune
