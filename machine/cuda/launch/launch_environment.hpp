#pragma once
// Whether this process is alone or one of many that a launcher started, one a GPU, and where those
// meet. Nothing is started here: agent.hpp and ../worker_pool.hpp do that.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

#include "core/error.hpp"

namespace overlaptune::cuda {

/// The ranks of a launcher wait for each other so long: if one never comes, all have ended within a
/// minute.
inline constexpr std::chrono::seconds kMeetLimit{50};

enum class Launcher {
  plain,     ///< none, or one that started this process only: the program starts its own workers
  mpirun,    ///< Open MPI or MPICH
  srun,      ///< Slurm
  torchrun,  ///< PyTorch, or whatever sets the same variables
};

struct LaunchEnvironment {
  Launcher launcher = Launcher::plain;
  int rank = 0;
  int size = 1;
  int local_rank = 0;    ///< among the ranks of this host: which of its GPUs
  bool one_host = true;  ///< all ranks are on this host
  std::string host{};    ///< where rank 0 listens, as other ranks reach it; empty for `plain`
  int port = 0;          ///< on which it listens
  std::string job{};     ///< of the launcher; two jobs that chose the same port must not mix
  friend bool operator==(const LaunchEnvironment&, const LaunchEnvironment&) = default;
};

/// The variable's value, or none.
using Variables = std::function<std::optional<std::string>(const char*)>;

/// Of this process.
[[nodiscard]] Variables environment_variables();

/// The innermost launcher counts: torchrun under srun is torchrun, mpirun within a Slurm job is
/// mpirun. Variables, in this order of preference:
///   torchrun  RANK, WORLD_SIZE and LOCAL_RANK (all three); LOCAL_WORLD_SIZE
///   mpirun    OMPI_COMM_WORLD_RANK, _SIZE, _LOCAL_RANK, _LOCAL_SIZE, or
///             PMI_RANK, PMI_SIZE, MPI_LOCALRANKID, MPI_LOCALNRANKS
///   srun      SLURM_PROCID, SLURM_NTASKS > 1, SLURM_LOCALID within a step (SLURM_STEP_ID)
/// Where they meet is left open. Error (`bad_input`): a malformed or contradictory variable.
[[nodiscard]] Expected<LaunchEnvironment> read_ranks(const Variables& variables);

/// The same, and where they meet: at MASTER_ADDR:MASTER_PORT (OVERLAPTUNE_PORT, if set, takes the
/// place of the port; one more than MASTER_PORT where torchrun itself listens there). Without
/// MASTER_ADDR, on one host, at 127.0.0.1 and a port derived from the launcher's job. Error
/// (`bad_input`): as above; several hosts without MASTER_ADDR.
[[nodiscard]] Expected<LaunchEnvironment> read_launch(const Variables& variables);

}  // namespace overlaptune::cuda
