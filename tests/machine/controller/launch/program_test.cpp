// The built program over fake workers, alone and under a launcher.

#include <filesystem>
#include <unistd.h>

#include <gtest/gtest.h>

#include "machine/controller/launch/installation.hpp"
#include "machine/controller/launch/job_secret.hpp"
#include "machine/controller/wire/connection.hpp"
#include "tests/machine/controller/fixtures.hpp"
#include "tests/machine/controller/launch/job.hpp"
#include "tests/machine/controller/processes.hpp"

namespace overlaptune::cuda {
namespace {

TEST(Program, probes_on_workers_of_its_own) {
  const Variable worker(kWorkerVariable, fake_worker());
  const Variable devices("FAKE_DEVICES", "2");
  const tool::Folder folder;
  const auto document = tool::json(folder, "probe --machine cuda --allow-multicast --db f.db");
  EXPECT_EQ(document.at("platform"), "fake-100-nvlink-x2");
  EXPECT_GT(document.at("measured"), 0);
  EXPECT_TRUE(children_of(getpid()).empty());
}

/// Rank 0 is the controller; the others say nothing, write nothing, and end with its exit code.
void expect_one_controller(const Job& job, const std::vector<tool::Outcome>& outcomes) {
  for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
    EXPECT_EQ(outcomes[rank].status, outcomes[0].status) << rank << ": " << outcomes[rank].err;
    if (rank == 0) continue;
    EXPECT_EQ(outcomes[rank].out, "");
    EXPECT_TRUE(job.folder(static_cast<int>(rank)).entries().empty());
  }
  EXPECT_TRUE(job.leaves_nothing());
}

void expect_probes(Job job) {
  const auto outcomes = job.run("probe --machine cuda --quick --db f.db --json");
  expect_one_controller(job, outcomes);
  ASSERT_EQ(outcomes[0].status, 0) << outcomes[0].err;
  EXPECT_EQ(nlohmann::json::parse(outcomes[0].out).at("platform"), "fake-100-nvlink-x3");
}

TEST(Program, meets_as_torchrun_says) {
  const int port = free_port();
  expect_probes(Job(3, [port](int rank) { return torchrun_rank(rank, 3, port); }));
}

TEST(Program, meets_as_srun_says) {
  const int job = static_cast<int>(getpid());
  expect_probes(Job(3, [job](int rank) { return srun_rank(rank, 3, job); }));
}

/// Two hosts as far as the variables tell.
TEST(Program, meets_at_an_address_of_ipv6) {
  if (!Listener::open("::1")) GTEST_SKIP() << "this host has no IPv6";
  for (const char* address : {"::1", "[::1]"}) {
    const int port = free_port();
    expect_probes(Job(3, [&](int rank) {
      Environment environment = torchrun_rank(rank, 3, port);
      environment["LOCAL_WORLD_SIZE"] = "1";
      environment["MASTER_ADDR"] = address;
      return environment;
    }));
  }
}

TEST(Program, says_that_a_rank_without_local_rank_runs_alone) {
  Job job(2, [](int rank) {
    return Environment{{"RANK", std::to_string(rank)}, {"WORLD_SIZE", "2"}};
  });
  for (const tool::Outcome& outcome : job.run("probe --machine cuda --quick --db f.db")) {
    EXPECT_EQ(outcome.status, 0) << outcome.err;
    const auto first = outcome.err.find("LOCAL_RANK is not");
    EXPECT_NE(first, std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("LOCAL_RANK is not", first + 1), std::string::npos) << "said twice";
  }
}

/// The launcher gives no secret: rank 0 makes a file that the others read.
TEST(Program, meets_by_a_secret_in_a_file) {
  const tool::Folder home;
  const int port = free_port();
  const auto in_home = [&](int rank) {
    Environment environment = torchrun_rank(rank, 3, port);
    environment[kSecretVariable] = "";
    environment["XDG_CONFIG_HOME"] = home.path();
    return environment;
  };
  expect_probes(Job(3, in_home));
  const auto file = home / "overlaptune/secret";
  EXPECT_EQ(tool::content(file).size(), 64U);
  std::filesystem::permissions(file, std::filesystem::perms{0644});
  for (const tool::Outcome& outcome : Job(3, in_home).run("probe --machine cuda --db f.db")) {
    EXPECT_EQ(outcome.status, 2);
    EXPECT_NE(outcome.err.find("overlaptune/secret: others may read it"), std::string::npos)
        << outcome.err;
  }
}

TEST(Program, says_what_to_set_without_a_secret) {
  const int port = free_port();
  Job job(2, [port](int rank) {
    Environment environment = torchrun_rank(rank, 2, port);
    environment[kSecretVariable] = "";
    environment[kSecretFileVariable] = "/dev/null/secret";
    return environment;
  });
  const auto outcomes = job.run("probe --machine cuda --quick --db f.db");
  EXPECT_EQ(outcomes[0].status, 0) << outcomes[0].err;
  EXPECT_NE(outcomes[0].err.find("rank 0 listens to processes of this host only"),
            std::string::npos)
      << outcomes[0].err;
  EXPECT_NE(outcomes[0].err.find("set OVERLAPTUNE_SECRET to"), std::string::npos);
}

/// The database is on rank 0's host only.
TEST(Program, holds_out_where_only_rank_0_has_the_database) {
  const int port = free_port();
  Job job(2, [port](int rank) { return torchrun_rank(rank, 2, port); });
  const auto none = job.run("evaluate --held-out 5 --machine cuda --db f.db");
  expect_one_controller(job, none);
  EXPECT_NE(none[0].err.find("f.db"), std::string::npos) << none[0].err;
  ASSERT_EQ(job.run("probe --machine cuda --quick --db f.db")[0].status, 0);
  const auto outcomes = job.run("evaluate --held-out 5 --machine cuda --db f.db --json");
  expect_one_controller(job, outcomes);
  EXPECT_EQ(outcomes[0].status, 0) << outcomes[0].err;
}

/// The other ranks do not wait until their time limit.
TEST(Program, ends_on_all_ranks_when_one_has_no_gpu) {
  const int port = free_port();
  Job job(3, [port](int rank) {
    Environment environment = torchrun_rank(rank, 3, port);
    environment["FAKE_FAULT"] = "no_gpu:2";
    return environment;
  });
  const auto outcomes = job.run("probe --machine cuda --db f.db");
  expect_one_controller(job, outcomes);
  EXPECT_EQ(outcomes[0].status, 3);
  EXPECT_NE(outcomes[0].err.find("rank 2 on"), std::string::npos) << outcomes[0].err;
}

}  // namespace
}  // namespace overlaptune::cuda
