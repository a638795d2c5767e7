#pragma once
// GEMM and collective of a problem, each alone. An overlapped config is judged by them, and timed
// in turn with them.

#include <span>

#include "machine/worker/timing.hpp"
#include "run/gemm/gemm.hpp"
#include "run/plan.hpp"

namespace overlaptune::cuda {

/// The two as `sequential` runs them: the library's GEMM on all SMs, and NCCL's own choice of CTAs
/// on a ring.
struct Alone {
  /// Collective. Captures both for each operand set.
  [[nodiscard]] static Expected<Alone> make(run::World& world, run::GemmLibrary& library,
                                            const Problem& problem,
                                            std::span<const run::Operands> sets);

  Replay gemm;
  Replay collective;
};

}  // namespace overlaptune::cuda
