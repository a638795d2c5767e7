#pragma once
// The side of a strategy that is in `run/`: it makes plans, and says which memory they need.

#include <cstdint>
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

/// The plans of the strategy whose configs have type `Own`. A specialization has
///
///     static Expected<std::unique_ptr<Plan>> make(const Request&);
///     static std::int64_t workspace_bytes(const Work&);
///     static std::int64_t most_workspace_bytes(const Problem&);
///     static bool goes_through_world(const Problem&, const Own&);
///
/// `make` is as `make_plan`, and its work has this strategy, as that of `workspace_bytes` has.
/// `most_workspace_bytes` is enough for any config of the strategy; the problem has an op of its.
/// `goes_through_world` says whether A or C must lie in memory that all ranks share.
template <class Own>
struct RunnerOf;

}  // namespace overlaptune::run
