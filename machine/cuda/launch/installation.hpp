#pragma once
// What of the CUDA side is installed here: the worker program, and the GPUs that it sees.

#include <chrono>
#include <string>
#include <vector>

#include "machine/cuda/launch/launch_environment.hpp"
#include "machine/cuda/wire/messages.hpp"

namespace overlaptune::cuda {

/// Names another worker program than the one beside this program; for tests.
inline constexpr const char* kWorkerVariable = "OVERLAPTUNE_WORKER";

struct Installation {
  std::string worker;  ///< the program
  std::vector<Device> devices{};
};

/// Asks the worker program beside this one for the GPUs of this host.
/// Error (`machine_unavailable`): this build has no worker, or the worker's own words (no driver).
[[nodiscard]] Expected<Installation> find_installation(
    std::chrono::milliseconds limit = std::chrono::seconds(30));

/// The GPU of this process's own rank: its number on this host, or the only one that the launcher
/// lets it see. Error (`machine_unavailable`): fewer than two GPUs without a launcher, none left
/// for this rank under one.
[[nodiscard]] Expected<int> own_gpu(const Installation& installation,
                                    const LaunchEnvironment& launch);

}  // namespace overlaptune::cuda
