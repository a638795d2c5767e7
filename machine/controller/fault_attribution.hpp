#pragma once
// Fault attribution: which config of a run is at fault when a worker is lost, and its verdict.

#include <optional>

#include "core/config/candidate.hpp"
#include "machine/controller/worker_pool.hpp"

namespace overlaptune::cuda {

/// The config that most ranks were at; of two with equal counts, the one that the lost rank was at.
/// None if the ranks were at no config in particular.
[[nodiscard]] std::optional<std::size_t> config_at_fault(const Loss& loss, std::size_t configs);

/// The verdict: `timeout` for a hang, `rank_died` for a killed worker, otherwise `crashed`.
[[nodiscard]] Verdict verdict_of(const Loss& loss);

}  // namespace overlaptune::cuda
