#include "run/make_plan.hpp"

#include <variant>

#include "core/config/check.hpp"
#include "strategies/runners.hpp"

namespace overlaptune::run {

namespace {

Expected<std::unique_ptr<Plan>> made(const Request& request) {
  const Work& work = request.work;
  const auto able =
      overlaptune::check(work.problem(), work.config(), request.engine.capabilities());
  if (!able) return error_of(able);
  const auto by_strategy = [&]<class Own>(const Own& /*config*/) {
    return RunnerOf<Own>::make(request);
  };
  return std::visit(by_strategy, work.config());
}

}  // namespace

Expected<std::unique_ptr<Plan>> make_plan(const Engine& engine, const Work& work,
                                          std::span<const Operands> operands, Mutant mutant) {
  return made({.engine = engine, .work = work, .operands = operands, .mutant = mutant});
}

Expected<std::unique_ptr<Plan>> make_plan(const Engine& engine, const Work& work,
                                          std::shared_ptr<FamilyParts> family) {
  return made({.engine = engine, .work = work, .operands = {}, .family = std::move(family)});
}

}  // namespace overlaptune::run
