#pragma once
// The part of a strategy that is in `run/`: a function that makes its plans, and one that gives the
// size of their workspace. To add a strategy: write a file with these two functions, and add a row
// to the table in strategies.cpp, where they are declared.

#include <memory>
#include <span>

#include "core/work.hpp"
#include "run/engine.hpp"
#include "run/mutant.hpp"
#include "run/plan.hpp"

namespace overlaptune::run {

/// A plan to be made. The work was checked with the engine's capabilities.
struct Request {
  const Engine& engine;
  const Work& work;
  std::span<const Operands> operands;
  Mutant mutant = Mutant::none;
};

/// Both functions take work of this strategy.
struct StrategyRunner {
  Strategy strategy;
  /// As `make_plan`.
  Expected<std::unique_ptr<Plan>> (*make)(const Request& request);
  std::int64_t (*workspace_bytes)(const Work& work);
};

[[nodiscard]] const StrategyRunner& runner_of(Strategy strategy);

/// An upper limit of the workspace that a config of `peer_store` takes for a problem.
[[nodiscard]] std::int64_t most_workspace_of_stores(const Problem& problem);

}  // namespace overlaptune::run
