#pragma once
// The launch of this process: alone, or one of many that a launcher started, one for each GPU; and
// the address at which these meet. Nothing is started here: agent.hpp and ../worker_pool.hpp do
// that.

#include <chrono>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/environment.hpp"
#include "core/base/error.hpp"

namespace overlaptune::cuda {

/// How long the ranks of a launcher wait for each other. If one never comes, all have ended within
/// a minute.
inline constexpr std::chrono::seconds kMeetLimit{50};

/// The number, if a text of a variable or a flag is a whole number of this range and nothing else.
[[nodiscard]] std::optional<int> whole_number(std::string_view text, int least, int most);

enum class Launcher {
  plain,     ///< none, or it started only this process: the program starts its workers itself
  mpirun,    ///< Open MPI or MPICH
  srun,      ///< Slurm
  torchrun,  ///< PyTorch, or another one that sets the same variables
};

struct LaunchEnvironment {
  Launcher launcher = Launcher::plain;
  int rank = 0;
  int size = 1;
  int local_rank = 0;    ///< rank among those of this host: which of its GPUs
  bool one_host = true;  ///< all ranks are on this host
  std::string host{};    ///< address of rank 0 for the other ranks; empty for `plain`
  int port = 0;          ///< port on which rank 0 listens
  std::string job{};     ///< the launcher's name of the job, as two jobs may choose one port
  std::string secret{};  ///< what all ranks of the job know, and nobody else; empty: not known here
  std::string secret_file{};  ///< the file in which the ranks find the secret if it is empty
  std::string warning{};      ///< what looks like a launch, and is none; empty: nothing does
  friend bool operator==(const LaunchEnvironment&, const LaunchEnvironment&) = default;
};

/// The rank, the size and the launcher of this process. The innermost launcher counts: torchrun
/// under srun is torchrun, mpirun within a Slurm job is mpirun. Variables, in this order of
/// preference:
///   torchrun  RANK, WORLD_SIZE and LOCAL_RANK (all three); LOCAL_WORLD_SIZE
///   mpirun    OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE, or
///             PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS
///   srun      SLURM_PROCID, SLURM_STEP_NUM_TASKS (else SLURM_NTASKS) > 1, SLURM_LOCALID within a
///             step (SLURM_STEP_ID) that srun started: not in the shell of salloc
/// The address at which the ranks meet is left open. Error (`bad_input`): a malformed or
/// contradictory variable.
[[nodiscard]] Expected<LaunchEnvironment> read_ranks(const Variables& variables);

/// The launch environment of `read_ranks`, with the address at which the ranks meet:
/// MASTER_ADDR:MASTER_PORT. OVERLAPTUNE_PORT, if set, replaces the port; the port is one more than
/// MASTER_PORT if torchrun itself listens on that. An address of IPv6 may stand in brackets. On one
/// host the address is 127.0.0.1, and without MASTER_PORT the port is derived from the launcher's
/// job. Error (`bad_input`): that of `read_ranks`; several hosts without MASTER_ADDR.
[[nodiscard]] Expected<LaunchEnvironment> read_launch(const Variables& variables);

}  // namespace overlaptune::cuda
