#include "run/make_plan.hpp"

#include "core/check.hpp"
#include "run/strategies.hpp"

namespace overlaptune::run {

Expected<std::unique_ptr<Plan>> make_plan(const Engine& engine, const Work& work,
                                          std::span<const Operands> operands, Mutant mutant) {
  const auto able = overlaptune::check(work.problem(), work.config(), engine.capabilities());
  if (!able) return error_of(able);
  return runner_of(work.strategy()).make({engine, work, operands, mutant});
}

}  // namespace overlaptune::run
