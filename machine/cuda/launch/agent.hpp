#pragma once
// Under a launcher, rank 0's process is the controller; the process of every other rank is an
// agent, which starts and ends the worker of its rank when the controller says so, and goes when it
// goes.

#include <memory>
#include <vector>

#include "machine/cuda/launch/launch_environment.hpp"
#include "machine/cuda/launch/rendezvous.hpp"
#include "machine/cuda/launch/worker_slot.hpp"

namespace overlaptune::cuda {

struct AgentOptions {
  std::string worker;  ///< the program
  std::string version = program_version();
  std::chrono::milliseconds limit = kMeetLimit;  ///< until all must have met
};

/// Until the controller is done. The exit code: the controller's, or 3 (`machine_unavailable`) when
/// it could not be found or is gone. Complains by itself.
[[nodiscard]] int run_agent(const LaunchEnvironment& launch, const AgentOptions& options);

/// Where workers come, and the agents of other ranks: at `launch.port`, or any free port where that
/// is 0. Error (`machine_unavailable`): it is taken.
[[nodiscard]] Expected<Listener> listen_for_ranks(const LaunchEnvironment& launch);

/// The controller's side: rank 0's worker on this host, and the agents' of all other ranks.
/// Error (`machine_unavailable`): which rank did not come, or is of another version, and its host.
[[nodiscard]] Expected<std::vector<std::unique_ptr<WorkerSlot>>> meet_agents(
    Rendezvous& rendezvous, const LaunchEnvironment& launch, const AgentOptions& options);

/// Agents stay until the controller knows its exit code: the last thing to call.
void dismiss_agents(int code);

}  // namespace overlaptune::cuda
