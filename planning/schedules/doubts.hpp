#pragma once
// How far operations in a captured layer were from what `step` assumes or predicts for them: the
// layers of Llama-3-70B in docs/results/2026-11-28-h200-nvlink-x4.md ("Where a layer's time goes",
// way `sequential`) beside the predictions from the database of that page, and the collectives in
// 2026-11-29-h200-nvlink-x2.md. Rounded outwards; docs/step.md has the comparison.

#include "planning/schedules/task_graph.hpp"

namespace overlaptune {

/// Norms, rope and activation took 0.97 to 1.5 times the time of their bytes, the shortest of them
/// up to 2.5 us more.
inline constexpr Doubt kDoubtOfMemory{.low = 0.95, .high = 1.5, .more_us = 2.5};

/// Attention took 0.85 to 1.3 times its assumed time, and with 1024 tokens 13.5 us more.
inline constexpr Doubt kDoubtOfAttention{.low = 0.8, .high = 1.35, .more_us = 13.5};

/// At the clock of the layer (step_clock.hpp), GEMMs took 0.75 (the smallest) to 0.98 of the time.
inline constexpr Doubt kDoubtOfGemm{.low = 0.75, .high = 1.05};

/// In the rounds of winners, reduce-scatters took 0.79 of the predicted time and more; all-gathers
/// as PyTorch calls them 1.26 to 1.31 times it ("Operations of a layer").
inline constexpr Doubt kDoubtOfCollective{.low = 0.75, .high = 1.35};

}  // namespace overlaptune
