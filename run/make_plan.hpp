#pragma once
// The function that makes a plan of a unit of work.

#include <memory>
#include <span>

#include "core/work.hpp"
#include "run/engine.hpp"
#include "run/mutant.hpp"
#include "run/plan.hpp"

namespace overlaptune::run {

/// Collective: makes communicators, registers memory, and chooses algorithms by runs on the given
/// operands, whose contents are overwritten. Error (`bad_input`): as `check` with the engine's
/// capabilities; GPUs that cannot reach one another's memory; a GEMM for which there is no kernel.
[[nodiscard]] Expected<std::unique_ptr<Plan>> make_plan(const Engine& engine, const Work& work,
                                                        std::span<const Operands> operands,
                                                        Mutant mutant = Mutant::none);

}  // namespace overlaptune::run
