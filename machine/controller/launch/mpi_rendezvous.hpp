#pragma once
// The rendezvous of the ranks by MPI, under mpirun and srun, in builds that have it
// (OVERLAPTUNE_MPI): no address and no free port need to be chosen. MPI is used for nothing else,
// and is finalized once the ranks have met. So nothing waits in MPI for a rank that died later, and
// workers are not forked beside its threads.

#include <optional>

#include "machine/controller/launch/launch_environment.hpp"
#include "machine/controller/wire/connection.hpp"

namespace overlaptune::cuda {

/// The rank of this process among all, the address on which rank 0 listens, and a secret that it
/// made for this job. None if the ranks must meet by address: a build without MPI, another
/// launcher, or a launcher of another MPI. The first call waits for all ranks, at most a minute,
/// and ends the process (code 3, `machine_unavailable`) if they do not come. Later calls return the
/// same result. Error (`machine_unavailable`): rank 0 cannot listen.
[[nodiscard]] Expected<std::optional<LaunchEnvironment>> meet_by_mpi(
    const LaunchEnvironment& launch);

/// The listener that rank 0 opened in `meet_by_mpi`; only the first call returns it.
[[nodiscard]] std::optional<Listener> take_mpi_listener();

}  // namespace overlaptune::cuda
