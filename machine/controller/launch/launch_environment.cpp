#include "machine/controller/launch/launch_environment.hpp"

#include <charconv>
#include <cstdint>

#include <fmt/format.h>

#include "core/base/hash.hpp"
#include "core/base/text.hpp"
#include "core/problem.hpp"
#include "machine/controller/wire/address.hpp"

namespace overlaptune::cuda {
namespace {

constexpr int kLargestPort = 65535;

/// Reads variables. Throws `Failure` (bad_input) if one is malformed.
class Reader {
 public:
  explicit Reader(const Variables& variables) : variables_(variables) {}

  [[nodiscard]] bool has(const char* name) const { return variables_(name).has_value(); }
  [[nodiscard]] std::string text(const char* name) const {
    return variables_(name).value_or(std::string());
  }
  [[nodiscard]] int number(const char* name, int least, int most) const {
    return number_of(name, variables_(name), least, most);
  }
  [[nodiscard]] static int number_of(const char* name, const std::optional<std::string>& value,
                                     int least, int most) {
    const auto parsed = value ? whole_number(*value, least, most) : std::nullopt;
    if (parsed) return *parsed;
    throw Failure(ErrorKind::bad_input,
                  fmt::format("environment variable {}: {}: expected a whole number from {} to {}, "
                              "as the launcher sets it",
                              name, value ? "'" + *value + "'" : "missing", least, most));
  }
  [[nodiscard]] int rank(const char* name) const { return number(name, 0, kMostRanks - 1); }
  [[nodiscard]] int size(const char* name) const { return number(name, 1, kMostRanks); }
  /// The program's own variables.
  [[nodiscard]] Environment own() const { return environment(variables_); }

 private:
  const Variables& variables_;
};

LaunchEnvironment torchrun(const Reader& read) {
  LaunchEnvironment found{.launcher = Launcher::torchrun,
                          .rank = read.rank("RANK"),
                          .size = read.size("WORLD_SIZE"),
                          .local_rank = read.rank("LOCAL_RANK"),
                          .job = read.text("TORCHELASTIC_RUN_ID")};
  found.one_host = read.has("LOCAL_WORLD_SIZE") ? read.size("LOCAL_WORLD_SIZE") == found.size
                                                : !read.has("MASTER_ADDR");
  return found;
}

LaunchEnvironment open_mpi(const Reader& read) {
  LaunchEnvironment found{.launcher = Launcher::mpirun,
                          .rank = read.rank("OMPI_COMM_WORLD_RANK"),
                          .size = read.size("OMPI_COMM_WORLD_SIZE"),
                          .local_rank = read.rank("OMPI_COMM_WORLD_LOCAL_RANK"),
                          .job = read.text("PMIX_NAMESPACE")};
  found.one_host = read.has("OMPI_COMM_WORLD_LOCAL_SIZE") &&
                   read.size("OMPI_COMM_WORLD_LOCAL_SIZE") == found.size;
  return found;
}

LaunchEnvironment mpich(const Reader& read) {
  LaunchEnvironment found{.launcher = Launcher::mpirun,
                          .rank = read.rank("PMI_RANK"),
                          .size = read.size("PMI_SIZE"),
                          .job = read.text("PMI_PORT")};
  // Slurm sets the PMI variables too, but has another name for the rank within a host.
  found.local_rank =
      read.rank(read.has("MPI_LOCALRANKID") || !read.has("SLURM_LOCALID") ? "MPI_LOCALRANKID"
                                                                          : "SLURM_LOCALID");
  found.one_host = read.has("MPI_LOCALNRANKS") ? read.size("MPI_LOCALNRANKS") == found.size
                                               : read.text("SLURM_STEP_NUM_NODES") == "1";
  return found;
}

/// Whether srun started this process as a task of a step. The steps in which Slurm itself starts
/// one process have the highest numbers (slurm.h: SLURM_INTERACTIVE_STEP 0xfffffffa is the shell of
/// salloc, SLURM_BATCH_SCRIPT 0xfffffffb a script of sbatch).
bool is_task_of_step(const Reader& read) {
  constexpr std::uint32_t kFirstSpecialStep = 0xfffffff0;
  const std::string step = read.text("SLURM_STEP_ID");
  if (step.empty() || !read.has("SLURM_PROCID")) return false;
  std::uint32_t number = 0;
  std::from_chars(step.data(), step.data() + step.size(), number);
  return number < kFirstSpecialStep;
}

LaunchEnvironment srun(const Reader& read) {
  return {
      .launcher = Launcher::srun,
      .rank = read.rank("SLURM_PROCID"),
      .size = read.size(read.has("SLURM_STEP_NUM_TASKS") ? "SLURM_STEP_NUM_TASKS" : "SLURM_NTASKS"),
      .local_rank = read.rank("SLURM_LOCALID"),
      .one_host = read.text(read.has("SLURM_STEP_NUM_NODES") ? "SLURM_STEP_NUM_NODES"
                                                             : "SLURM_NNODES") == "1",
      .job = read.text("SLURM_JOB_ID") + "." + read.text("SLURM_STEP_ID")};
}

/// The warning where a launch is not complete, as in the pods of some clusters; empty where there
/// is no sign of one.
std::string half_a_launch(const Reader& read) {
  if (!read.has("RANK") || !read.has("WORLD_SIZE") || read.text("WORLD_SIZE") == "1") return "";
  return fmt::format(
      "RANK={} and WORLD_SIZE={} are set but LOCAL_RANK is not, so this process runs alone, on the "
      "GPUs of its host: to run as one of several ranks, set LOCAL_RANK on each, as torchrun does",
      read.text("RANK"), read.text("WORLD_SIZE"));
}

LaunchEnvironment whoever_launched(const Reader& read) {
  if (read.has("RANK") && read.has("WORLD_SIZE") && read.has("LOCAL_RANK")) return torchrun(read);
  if (read.has("OMPI_COMM_WORLD_RANK")) return open_mpi(read);
  if (read.has("PMI_RANK")) return mpich(read);
  // sbatch and salloc set most of these too, but start one process only.
  if (is_task_of_step(read)) return srun(read);
  return {.warning = half_a_launch(read)};
}

/// A port below those that Linux gives out by itself (ip_local_port_range, 32768 and up).
int port_of_job(const std::string& job) {
  constexpr int kFallback = 29400;
  constexpr int kFirst = 20000;
  constexpr int kPorts = 9000;
  if (job.empty()) return kFallback;
  return kFirst + static_cast<int>(mix(fnv1a(job)) % kPorts);
}

void choose_meeting_point(LaunchEnvironment& launch, const Reader& read) {
  if (read.has("MASTER_ADDR") != read.has("MASTER_PORT")) {
    throw Failure(ErrorKind::bad_input,
                  "environment variables MASTER_ADDR and MASTER_PORT: expected both or neither: "
                  "set both to where rank 0 can be reached");
  }
  // On one host rank 0 listens on the loopback only.
  launch.host = launch.one_host ? "127.0.0.1" : without_brackets(read.text("MASTER_ADDR"));
  if (read.has("MASTER_ADDR")) {
    // torchrun keeps a store of its own on that port.
    const int taken = read.text("TORCHELASTIC_USE_AGENT_STORE") == "True" ? 1 : 0;
    launch.port = read.number("MASTER_PORT", 1, kLargestPort - taken) + taken;
  } else if (launch.one_host) {
    launch.port = port_of_job(launch.job);
  } else {
    throw Failure(
        ErrorKind::bad_input,
        fmt::format("{} ranks on several hosts: set MASTER_ADDR to the host of rank 0 and "
                    "MASTER_PORT to a free port of it",
                    launch.size));
  }
  if (const auto port = read.own().port) {
    launch.port = Reader::number_of(kPortVariable, port, 1, kLargestPort);
  }
}

LaunchEnvironment ranks_from(const Reader& read) {
  LaunchEnvironment launch = whoever_launched(read);
  if (launch.size == 1) return {.warning = launch.warning};
  if (launch.rank < launch.size && launch.local_rank < launch.size) return launch;
  throw Failure(ErrorKind::bad_input,
                fmt::format("rank {} (local rank {}) of {} ranks: expected less than their "
                            "number, in the variables that the launcher sets",
                            launch.rank, launch.local_rank, launch.size));
}

}  // namespace

std::optional<int> whole_number(std::string_view text, int least, int most) {
  const auto number = parsed<int>(text);
  return number && *number >= least && *number <= most ? number : std::nullopt;
}

Expected<LaunchEnvironment> read_ranks(const Variables& variables) {
  return outcome_of([&] { return ranks_from(Reader(variables)); });
}

Expected<LaunchEnvironment> read_launch(const Variables& variables) {
  return outcome_of([&] {
    const Reader read(variables);
    LaunchEnvironment launch = ranks_from(read);
    if (launch.launcher != Launcher::plain) choose_meeting_point(launch, read);
    return launch;
  });
}

}  // namespace overlaptune::cuda
