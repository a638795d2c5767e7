#pragma once
// The factor by which a lower clock slows the GEMM of a config. The power limit acts on the mean
// power of all that a GPU runs, so the factor depends on the other work too. Times are
// microseconds.

#include "model/parts.hpp"

namespace overlaptune {

/// The work that runs in turn with a config: `sequential`, and the GEMM and the collective of the
/// problem, each alone. A config is measured in turn with these. In a layer, about as much work
/// surrounds one overlapped operation.
struct BackgroundLoad {
  double gemm = 0;        ///< time of the library's GEMM, on all SMs at full clock
  double collective = 0;  ///< time of the collective in one piece
};

[[nodiscard]] BackgroundLoad background_of(const Model::Parts& parts, const ClassGemms& gemms,
                                           const Problem& problem);

/// The GEMM of a config.
struct ConfigGemm {
  double time = 0;  ///< at full clock
  Tile tile{};      ///< tile of a generated GEMM; that of a library's GEMM stays empty
};

/// The factor for a GEMM in turn with a collective that takes `collective`.
[[nodiscard]] double clock_slowdown_in_turn(const ClockModel& clock, const Problem& problem,
                                            const BackgroundLoad& background,
                                            const ConfigGemm& gemm, double collective);

/// The factor for a GEMM and a collective that run beside each other, and slow each other by
/// `slowdown`.
[[nodiscard]] double clock_slowdown_beside(const ClockModel& clock, const Problem& problem,
                                           const BackgroundLoad& background, const ConfigGemm& gemm,
                                           double collective, const Slowdown& slowdown);

/// The factor for a GEMM that waits for what it sends or receives, and keeps its SMs while it
/// waits. The GEMM ends no sooner than the collective and, after that, `rest` of its own time.
/// Waits stretch a GEMM as contention does.
[[nodiscard]] double clock_slowdown_waiting(const ClockModel& clock, const Problem& problem,
                                            const BackgroundLoad& background,
                                            const ConfigGemm& gemm, double collective,
                                            const Slowdown& slowdown, double rest);

}  // namespace overlaptune
