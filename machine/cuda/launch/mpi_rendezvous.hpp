#pragma once
// The ranks of mpirun and srun find each other by MPI, in builds that have it (OVERLAPTUNE_MPI):
// neither an address nor a free port has to be chosen. MPI serves for nothing else, and is over
// when they have met: nothing waits in it for a rank that died since, and workers are not forked
// beside its threads.

#include <optional>

#include "machine/cuda/launch/launch_environment.hpp"
#include "machine/cuda/wire/connection.hpp"

namespace overlaptune::cuda {

/// Who this process is among all ranks, and where rank 0 listens, for a job of its own. None where
/// the ranks must meet by address: a build without MPI, another launcher, or one that does not
/// speak this MPI. The first call waits for all ranks, at most a minute, and ends the process (code
/// 3, `machine_unavailable`) if they do not come; later calls give the same again.
/// Error (`machine_unavailable`): rank 0 cannot listen.
[[nodiscard]] Expected<std::optional<LaunchEnvironment>> meet_by_mpi(
    const LaunchEnvironment& launch);

/// Where rank 0 listens since then; once.
[[nodiscard]] std::optional<Listener> take_mpi_listener();

}  // namespace overlaptune::cuda
