#pragma once
// The secret of a job, which only the processes of its ranks know: their launcher gave it to them,
// MPI brought it to them (mpi_rendezvous.hpp), or they may all read a file of their user.

#include <string>

#include "machine/controller/launch/launch_environment.hpp"

namespace overlaptune::cuda {

/// Sets `launch.secret` to the secret that the launcher gave. Otherwise it stays if it is known by
/// MPI. Otherwise `launch.secret_file` is set, and the secret is taken from there. Rank 0 makes the
/// file if there is none; the secret of other ranks is empty until then. If it cannot be made, the
/// secret stays empty, and a warning says why.
/// Error (`bad_input`): the secret is short enough to be guessed, or others may read or change the
/// file.
[[nodiscard]] Expected<void> find_secret(LaunchEnvironment& launch, const Variables& variables);

/// The secret between the controller and the agents: `launch.secret`, else what the file holds now,
/// else nothing; together with the name of the job, so that two jobs of one user do not mix.
/// Error (`bad_input`): as above.
[[nodiscard]] Expected<std::string> job_secret(const LaunchEnvironment& launch);

}  // namespace overlaptune::cuda
