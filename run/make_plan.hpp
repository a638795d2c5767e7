#pragma once
// The function that makes a plan of a unit of work.

#include <memory>
#include <span>

#include "core/config/work.hpp"
#include "run/engine.hpp"
#include "run/family_parts.hpp"
#include "run/mutant.hpp"
#include "run/plan.hpp"

namespace overlaptune::run {

/// Collective: makes communicators, registers memory, and chooses algorithms by runs on the given
/// operands, whose contents are overwritten. Error (`bad_input`): as `check` with the engine's
/// capabilities; GPUs that cannot reach one another's memory; a GEMM for which there is no kernel.
[[nodiscard]] Expected<std::unique_ptr<Plan>> make_plan(const Engine& engine, const Work& work,
                                                        std::span<const Operands> operands,
                                                        Mutant mutant = Mutant::none);

/// A plan of a family, which is made alone: it neither meets the other ranks nor waits, and takes
/// no memory of the GPU. Error (`bad_input`): as `check`; the family has no communicator, kernel or
/// algorithm for it.
[[nodiscard]] Expected<std::unique_ptr<Plan>> make_plan(const Engine& engine, const Work& work,
                                                        std::shared_ptr<FamilyParts> family);

}  // namespace overlaptune::run
