#pragma once
// The installed CUDA part of the program: the worker program, and the GPUs that it sees.

#include <chrono>
#include <string>
#include <vector>

#include "machine/controller/launch/launch_environment.hpp"
#include "machine/controller/wire/messages.hpp"

namespace overlaptune::cuda {

struct Installation {
  std::string worker;  ///< path of the worker program
  std::vector<Device> devices{};
  int ranks_per_gpu = 1;
  [[nodiscard]] int ranks() const { return static_cast<int>(devices.size()) * ranks_per_gpu; }
};

/// Asks the worker program beside this one for the GPUs of this host.
/// Error (`machine_unavailable`): this build has no worker, or the worker's message (no driver), or
/// `kRanksPerGpuVariable` has no number that is allowed.
[[nodiscard]] Expected<Installation> find_installation(
    std::chrono::milliseconds limit = std::chrono::seconds(30));

/// The GPU of this process's rank: its number on this host, or the only GPU that the launcher shows
/// it. Error (`machine_unavailable`): fewer than two ranks without a launcher; under one, no GPU is
/// left for this rank, or ranks are to share GPUs.
[[nodiscard]] Expected<int> own_gpu(const Installation& installation,
                                    const LaunchEnvironment& launch);

}  // namespace overlaptune::cuda
