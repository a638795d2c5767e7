#pragma once
// Measuring candidates on the machine, and the times that a winner is compared with.

#include <optional>
#include <vector>

#include "core/config/candidate.hpp"
#include "machine/machine.hpp"

namespace overlaptune {

/// Runs a candidate interleaved with `sequential` and fills in verdict, measured time, speedup and
/// conditions. Where the candidate is `sequential`, it is compared with itself. The predicted times
/// of both tell the machine how long to wait.
/// Error: the machine is lost, or cannot hold the problem.
[[nodiscard]] Expected<Candidate> validate(Machine& machine, Candidate candidate,
                                           const Candidate& sequential);

/// The times of the slowest rank in one run over those in another, repetition by repetition.
[[nodiscard]] std::vector<double> time_ratios(const RunResult& of, const RunResult& over);

/// The times of `sequential` over those of `result`, repetition by repetition: the two ran in turn.
/// Empty where one of them is not valid or not timed.
[[nodiscard]] std::vector<double> paired_ratios(const RunResult& sequential,
                                                const RunResult& result);

/// The summary of `paired_ratios`; none where they are empty.
[[nodiscard]] std::optional<Candidate::Speedup> paired_speedup(const RunResult& sequential,
                                                               const RunResult& result);

/// A candidate with the result of a run beside `sequential` filled in.
[[nodiscard]] Candidate judged(Candidate candidate, const RunResult& result,
                               const RunResult& sequential);

/// Times of plain GEMMs of a problem by themselves, on all SMs; infinite where none can be timed.
struct GemmTimes {
  Microseconds library{};  ///< of the GEMM library
  Microseconds fastest{};  ///< of that one and of the generated ones
};
/// The times with the tiles of `tiled`. They are not stored as probes, because the model must not
/// be fitted to the problems that it is judged by. Error: the machine is lost.
[[nodiscard]] Expected<GemmTimes> gemm_times(Machine& machine, const Problem& problem,
                                             const std::vector<Config>& tiled);

/// The time of the fastest collective that is known for the problem, whole or in equal pieces, with
/// the CTA counts and transports of `settings`.
[[nodiscard]] Expected<Microseconds> fastest_collective(Machine& machine, const Problem& problem,
                                                        const std::vector<Config>& settings);

}  // namespace overlaptune
