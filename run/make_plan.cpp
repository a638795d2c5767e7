#include "run/make_plan.hpp"

#include <variant>

#include "core/check.hpp"
#include "strategies/runners.hpp"

namespace overlaptune::run {

Expected<std::unique_ptr<Plan>> make_plan(const Engine& engine, const Work& work,
                                          std::span<const Operands> operands, Mutant mutant) {
  const auto able = overlaptune::check(work.problem(), work.config(), engine.capabilities());
  if (!able) return error_of(able);
  const Request request{engine, work, operands, mutant};
  const auto by_strategy = [&]<class Own>(const Own& /*config*/) {
    return RunnerOf<Own>::make(request);
  };
  return std::visit(by_strategy, work.config());
}

}  // namespace overlaptune::run
