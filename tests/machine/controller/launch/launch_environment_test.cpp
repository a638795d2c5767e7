#include "machine/controller/launch/launch_environment.hpp"

#include <map>

#include <gtest/gtest.h>

namespace overlaptune::cuda {
namespace {

using Environment = std::map<std::string, std::string>;

Expected<LaunchEnvironment> read(const Environment& environment) {
  return read_launch([&](const char* name) -> std::optional<std::string> {
    const auto found = environment.find(name);
    if (found == environment.end()) return std::nullopt;
    return found->second;
  });
}

void expect_error(const Environment& environment, const std::string& part) {
  const auto launch = read(environment);
  ASSERT_FALSE(launch) << part;
  EXPECT_EQ(launch.error().kind, ErrorKind::bad_input);
  EXPECT_NE(launch.error().message.find(part), std::string::npos) << launch.error().message;
}

const Environment kOpenMpi{{"OMPI_COMM_WORLD_RANK", "3"},
                           {"OMPI_COMM_WORLD_SIZE", "8"},
                           {"OMPI_COMM_WORLD_LOCAL_RANK", "3"},
                           {"OMPI_COMM_WORLD_LOCAL_SIZE", "8"},
                           {"PMIX_NAMESPACE", "prterun-host-4711@1"}};

const Environment kSrun{{"SLURM_PROCID", "5"},         {"SLURM_NTASKS", "16"},
                        {"SLURM_LOCALID", "1"},        {"SLURM_STEP_ID", "0"},
                        {"SLURM_STEP_NUM_NODES", "4"}, {"SLURM_JOB_ID", "77"}};

const Environment kTorchrun{{"RANK", "1"},
                            {"WORLD_SIZE", "4"},
                            {"LOCAL_RANK", "1"},
                            {"LOCAL_WORLD_SIZE", "4"},
                            {"MASTER_ADDR", "node0"},
                            {"MASTER_PORT", "29500"},
                            {"TORCHELASTIC_RUN_ID", "abc"}};

Environment with(Environment environment, const Environment& more) {
  for (const auto& [name, value] : more) environment[name] = value;
  return environment;
}

TEST(Launch, without_a_launcher_it_is_plain) {
  EXPECT_EQ(read({}), LaunchEnvironment{});
  // Variables that a user or a cluster may set anyway.
  EXPECT_EQ(read({{"MASTER_ADDR", "node0"}, {"WORLD_SIZE", "1"}, {"RANK", "0"}}),
            LaunchEnvironment{});
}

/// Some clusters give each pod RANK and WORLD_SIZE, and leave LOCAL_RANK to torchrun.
TEST(Launch, a_rank_without_local_rank_runs_alone_and_is_warned) {
  const auto launch = read({{"MASTER_ADDR", "node0"}, {"WORLD_SIZE", "8"}, {"RANK", "2"}});
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->launcher, Launcher::plain);
  EXPECT_EQ(launch->size, 1);
  EXPECT_NE(launch->warning.find("RANK=2 and WORLD_SIZE=8 are set but LOCAL_RANK is not"),
            std::string::npos)
      << launch->warning;
  EXPECT_EQ(read({{"RANK", "2"}}), LaunchEnvironment{});
  EXPECT_EQ(read({{"WORLD_SIZE", "8"}}), LaunchEnvironment{});
  EXPECT_EQ(read(kTorchrun)->warning, "");
  EXPECT_EQ(read(with(kOpenMpi, {{"RANK", "2"}, {"WORLD_SIZE", "8"}}))->warning, "");
}

TEST(Launch, open_mpi_on_one_host) {
  const auto launch = read(kOpenMpi);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->launcher, Launcher::mpirun);
  EXPECT_EQ(launch->rank, 3);
  EXPECT_EQ(launch->size, 8);
  EXPECT_EQ(launch->local_rank, 3);
  EXPECT_TRUE(launch->one_host);
  EXPECT_EQ(launch->host, "127.0.0.1");
  EXPECT_GE(launch->port, 20000);
  EXPECT_LT(launch->port, 29400);
  // All ranks of a job have their rendezvous at one port, those of another job at another.
  EXPECT_EQ(read(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "0"}}))->port, launch->port);
  EXPECT_NE(read(with(kOpenMpi, {{"PMIX_NAMESPACE", "other"}}))->port, launch->port);
}

TEST(Launch, several_hosts_need_a_meeting_point) {
  const Environment two_hosts = with(kOpenMpi, {{"OMPI_COMM_WORLD_LOCAL_SIZE", "4"}});
  expect_error(two_hosts, "set MASTER_ADDR");
  expect_error(with(two_hosts, {{"MASTER_ADDR", "node0"}}), "MASTER_PORT");
  const auto launch = read(with(two_hosts, {{"MASTER_ADDR", "node0"}, {"MASTER_PORT", "1234"}}));
  ASSERT_TRUE(launch);
  EXPECT_EQ(launch->host, "node0");
  EXPECT_EQ(launch->port, 1234);
  EXPECT_FALSE(launch->one_host);
}

TEST(Launch, mpich) {
  const auto launch = read(
      {{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}});
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->launcher, Launcher::mpirun);
  EXPECT_EQ(launch->local_rank, 1);
  EXPECT_EQ(launch->port, 29400);
  expect_error({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}}, "MPI_LOCALRANKID");
}

TEST(Launch, srun_only_within_a_step_of_several_tasks) {
  const auto launch = read(with(kSrun, {{"MASTER_ADDR", "node0"}, {"MASTER_PORT", "1234"}}));
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->launcher, Launcher::srun);
  EXPECT_EQ(launch->rank, 5);
  EXPECT_EQ(launch->size, 16);
  EXPECT_EQ(launch->local_rank, 1);
  EXPECT_FALSE(launch->one_host);
  expect_error(kSrun, "MASTER_ADDR");
  EXPECT_TRUE(read(with(kSrun, {{"SLURM_STEP_NUM_NODES", "1"}}))->one_host);

  Environment batch = kSrun;
  batch.erase("SLURM_STEP_ID");
  EXPECT_EQ(read(batch), LaunchEnvironment{});
  EXPECT_EQ(
      read(with(kSrun, {{"SLURM_NTASKS", "1"}, {"SLURM_PROCID", "0"}, {"SLURM_LOCALID", "0"}})),
      LaunchEnvironment{});
}

/// The variables of a shell that `salloc --ntasks=8` opened: it is one task.
TEST(Launch, the_shell_of_salloc_is_plain) {
  const Environment shell{{"SLURM_JOB_ID", "4711"},      {"SLURM_STEP_ID", "4294967290"},
                          {"SLURM_PROCID", "0"},         {"SLURM_LOCALID", "0"},
                          {"SLURM_STEP_NUM_NODES", "1"}, {"SLURM_STEP_NUM_TASKS", "1"},
                          {"SLURM_TASKS_PER_NODE", "8"}};
  EXPECT_EQ(read(shell), LaunchEnvironment{});
  EXPECT_EQ(read(with(shell, {{"SLURM_NTASKS", "8"}})), LaunchEnvironment{});
  Environment older = with(shell, {{"SLURM_NTASKS", "8"}});
  older.erase("SLURM_STEP_NUM_TASKS");
  EXPECT_EQ(read(older), LaunchEnvironment{});
  EXPECT_EQ(read(with(older, {{"SLURM_STEP_ID", "4294967291"}})), LaunchEnvironment{});
  // A step of a job of 8 tasks may have fewer.
  const auto step =
      read(with(kSrun, {{"SLURM_STEP_NUM_TASKS", "8"}, {"SLURM_STEP_NUM_NODES", "1"}}));
  ASSERT_TRUE(step) << step.error().message;
  EXPECT_EQ(step->size, 8);
}

TEST(Launch, an_address_of_ipv6_may_stand_in_brackets) {
  const Environment far = with(kTorchrun, {{"LOCAL_WORLD_SIZE", "2"}});
  EXPECT_EQ(read(with(far, {{"MASTER_ADDR", "[fd00::2]"}}))->host, "fd00::2");
  EXPECT_EQ(read(with(far, {{"MASTER_ADDR", "fd00::2"}}))->host, "fd00::2");
}

TEST(Launch, torchrun_and_the_port_that_it_keeps_for_itself) {
  const auto launch = read(kTorchrun);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->launcher, Launcher::torchrun);
  EXPECT_TRUE(launch->one_host);
  EXPECT_EQ(launch->host, "127.0.0.1");  // where rank 0 listens, whatever the host's own address
  EXPECT_EQ(launch->port, 29500);
  EXPECT_EQ(read(with(kTorchrun, {{"LOCAL_WORLD_SIZE", "2"}}))->host, "node0");
  EXPECT_EQ(launch->job, "abc");
  EXPECT_EQ(read(with(kTorchrun, {{"TORCHELASTIC_USE_AGENT_STORE", "True"}}))->port, 29501);
  EXPECT_EQ(read(with(kTorchrun, {{"OVERLAPTUNE_PORT", "5"}}))->port, 5);
}

TEST(Launch, the_innermost_launcher_counts) {
  EXPECT_EQ(read(with(kSrun, kTorchrun))->launcher, Launcher::torchrun);
  EXPECT_EQ(read(with(kSrun, kOpenMpi))->launcher, Launcher::mpirun);
}

TEST(Launch, malformed_variables_are_named) {
  expect_error(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "three"}}),
               "OMPI_COMM_WORLD_RANK: 'three'");
  expect_error(with(kOpenMpi, {{"OMPI_COMM_WORLD_SIZE", "0"}}), "OMPI_COMM_WORLD_SIZE");
  expect_error(with(kOpenMpi, {{"OMPI_COMM_WORLD_SIZE", "99999999999999"}}),
               "OMPI_COMM_WORLD_SIZE");
  expect_error(with(kOpenMpi, {{"OMPI_COMM_WORLD_RANK", "8"}}), "rank 8");
  expect_error(with(kTorchrun, {{"MASTER_PORT", "http"}}), "MASTER_PORT");
  expect_error(with(kTorchrun, {{"OVERLAPTUNE_PORT", "70000"}}), "OVERLAPTUNE_PORT");
  Environment incomplete = kOpenMpi;
  incomplete.erase("OMPI_COMM_WORLD_SIZE");
  expect_error(incomplete, "OMPI_COMM_WORLD_SIZE: missing");
}

}  // namespace
}  // namespace overlaptune::cuda
