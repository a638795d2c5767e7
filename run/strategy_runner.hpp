#pragma once
// The side of a strategy that is in `run/`: it makes plans, and says which memory they need.

#include <cstdint>
#include <memory>
#include <span>

#include "core/config/work.hpp"
#include "run/engine.hpp"
#include "run/family_parts.hpp"
#include "run/mutant.hpp"
#include "run/plan.hpp"

namespace overlaptune::run {

/// A plan to be made. The work was checked with the engine's capabilities.
struct Request {
  const Engine& engine;
  const Work& work;
  std::span<const Operands> operands;
  Mutant mutant = Mutant::none;
  /// A family: communicators, kernels and algorithms are there, and the plan is made alone.
  /// Null: it is made by all ranks together.
  std::shared_ptr<FamilyParts> family{};
};

/// The communicator of a route for a plan: collective (`make_ready`), unless the plan is of a
/// family. Error: as `make_ready`; a family that was not made for this route.
[[nodiscard]] Expected<void> ready(const Request& request, const CommKey& route);

/// A stream beside the caller's, and counters of this many wave groups, for a plan: its own, or
/// those of its family.
[[nodiscard]] std::shared_ptr<SideStream> side_stream(const Request& request);
[[nodiscard]] std::shared_ptr<DeviceMemory> group_counters(const Request& request,
                                                           std::size_t groups);

/// The plans of the strategy whose configs have type `Own`. A specialization has
///
///     static Expected<std::unique_ptr<Plan>> make(const Request&);
///     static std::int64_t most_workspace_bytes(const Problem&);
///
/// `make` is as `make_plan`, and its work has this strategy. `most_workspace_bytes` is enough for
/// any config of the strategy; the problem has an op of its. A strategy may also have
///
///     static std::int64_t workspace_bytes(const Work&);
///     static bool goes_through_world(const Problem&, const Own&);
///
/// The first where some of its configs need less. The second says whether A or C must lie in memory
/// that all ranks share, where that does not follow from the transport of its collectives.
template <class Own>
struct RunnerOf;

}  // namespace overlaptune::run
