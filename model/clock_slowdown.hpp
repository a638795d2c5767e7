#pragma once
// By which factor the clock slows the GEMM of a config. The power limit acts on the mean of all
// that a GPU does, and so the factor depends on what else runs. Times are microseconds.

#include "model/parts.hpp"

namespace overlaptune {

/// The background load of a config, which runs in turn with it: `sequential`, and the GEMM and the
/// collective of the problem alone. It is compared with these; and about as much surrounds one
/// overlapped operation in a layer.
struct BackgroundLoad {
  double gemm = 0;        ///< the library's, on all SMs at full clock
  double collective = 0;  ///< not in pieces
};

[[nodiscard]] BackgroundLoad background_of(const Model::Parts& parts, const ClassGemms& gemms,
                                           const Problem& problem);

// The factor on the times of a GEMM that takes `gemm` at full clock.

/// The GEMM and a collective of that time run one after the other.
[[nodiscard]] double clock_slowdown_in_turn(const ClockModel& clock, const Problem& problem,
                                            const BackgroundLoad& background, double gemm,
                                            double collective);

/// They run beside each other, and slow each other so.
[[nodiscard]] double clock_slowdown_beside(const ClockModel& clock, const Problem& problem,
                                           const BackgroundLoad& background, double gemm,
                                           double collective, const Slowdown& slowdown);

}  // namespace overlaptune
