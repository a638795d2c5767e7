#pragma once
// Makes plans of units of work, by the side of each strategy that is in `run/`.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include "core/config/tiling.hpp"
#include "core/config/work.hpp"
#include "run/engine.hpp"
#include "run/mutant.hpp"
#include "run/plan.hpp"
#include "run/streams/fork.hpp"

namespace overlaptune::run {

/// The parts that all plans of a family share: runs of a world's plans come one after another. They
/// make it possible to make another plan without the other ranks, memory of the GPU or a new
/// stream.
struct FamilyParts {
  SideStream side{};
  /// Counters of wave groups. Each run sets its own to zero first.
  DeviceMemory counters = device_memory(kMostRegions * sizeof(std::uint32_t));
};

/// A plan to be made.
struct Request {
  const Engine& engine;
  const Work& work;
  std::span<const Operands> operands{};
  Mutant mutant = Mutant::none;
  /// A family: communicators, kernels and algorithms are there, and the plan is made alone.
  /// Null: it is made by all ranks together.
  std::shared_ptr<FamilyParts> family{};
};

/// Collective: makes communicators, registers memory, and chooses algorithms by runs on the given
/// operands, whose contents are overwritten. A plan of a family neither meets the other ranks nor
/// waits, and takes no memory of the GPU. Error (`bad_input`): as `check` with the engine's
/// capabilities; GPUs that cannot reach one another's memory; a GEMM for which there is no kernel;
/// the family has no communicator, kernel or algorithm for it.
[[nodiscard]] Expected<std::unique_ptr<Plan>> make_plan(const Request& request);

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
///     static std::int64_t workspace_bytes(const Work&);
///     static std::int64_t most_workspace_bytes(const Problem&);
///
/// `make` is as `make_plan`, and its work was checked and has this strategy. `workspace_bytes`
/// is what this work needs; `most_workspace_bytes` is enough for any config of the strategy, and
/// its problem has an op of the strategy.
template <class Own>
struct RunnerOf;

}  // namespace overlaptune::run
