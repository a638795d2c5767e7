#pragma once
// Under a launcher, rank 0's process is the controller. The process of every other rank is an
// agent: it starts and ends the worker of its rank when the controller says so, and ends with the
// controller.

#include <memory>
#include <vector>

#include "machine/controller/launch/launch_environment.hpp"
#include "machine/controller/launch/rendezvous.hpp"
#include "machine/controller/launch/worker_slot.hpp"

namespace overlaptune::cuda {

struct AgentOptions {
  std::string worker;  ///< path of the worker program
  std::string version = program_version();
  std::chrono::milliseconds limit = kMeetLimit;  ///< time in which all ranks must meet
};

/// Serves until the controller is done. Returns the controller's exit code, or 3
/// (`machine_unavailable`) if the controller was not found or is gone. Logs its own errors.
[[nodiscard]] int run_agent(const LaunchEnvironment& launch, const AgentOptions& options);

/// A listener for the workers and for the agents of other ranks: on `launch.port`, or on any free
/// port if that is 0. Agents of other hosts can reach it only if there is a secret. Error
/// (`machine_unavailable`): the port is taken.
[[nodiscard]] Expected<Listener> listen_for_ranks(const LaunchEnvironment& launch);

/// The controller's side: a slot for rank 0's worker on this host, and one for each agent's, which
/// proves `secret` (`job_secret`).
/// Error (`machine_unavailable`): the rank that did not come, or is of another version, and its
/// host. Strangers are dropped and counted, whatever they send.
[[nodiscard]] Expected<std::vector<std::unique_ptr<WorkerSlot>>> meet_agents(
    Rendezvous& rendezvous, const LaunchEnvironment& launch, const std::string& secret,
    const AgentOptions& options);

/// Tells the agents the exit code, for which they wait. To be called last.
void dismiss_agents(int code);

}  // namespace overlaptune::cuda
