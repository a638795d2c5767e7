// The built program under mpirun: the rendezvous of its ranks is by MPI where it was built with
// MPI, by address otherwise.

#include <filesystem>

#include <gtest/gtest.h>

#include "machine/controller/launch/installation.hpp"
#include "machine/controller/launch/process.hpp"
#include "machine/controller/wire/connection.hpp"
#include "machine/controller/wire/secret.hpp"
#include "tests/cli/tool.hpp"
#include "tests/machine/controller/fixtures.hpp"
#include "tests/machine/controller/processes.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

constexpr const char* kMpirun = OVERLAPTUNE_MPIRUN;  // empty where there is none
constexpr const char* kNameVariable = "OVERLAPTUNE_TEST_JOB";

class Mpirun : public testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(kMpirun)) GTEST_SKIP() << "mpirun is not on this host";
  }

  /// Runs three ranks of the program, and returns how mpirun ended.
  Ending run(const std::string& fault = "", int port = 0) {
    std::vector<std::pair<std::string, std::string>> environment{
        {kWorkerVariable, fake_worker()},
        {"FAKE_DEVICES", "3"},
        {"FAKE_FAULT", fault},
        {kNameVariable, name_},
        {"XDG_CONFIG_HOME", folder_.path()},  // for the secret, where MPI does not bring one
        // A container has no other user and few cores. Open MPI 4 and 5 have different names for
        // these settings.
        {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
        {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
        {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
        {"PRTE_MCA_rmaps_default_mapping_policy", ":oversubscribe"}};
    if (port != 0) environment.emplace_back("OVERLAPTUNE_PORT", std::to_string(port));
    Process mpirun = value_or_throw(
        Process::start({.program = kMpirun,
                        .arguments = {"-np", "3", OVERLAPTUNE_PROGRAM, "probe", "--machine", "cuda",
                                      "--quick", "--db", folder_ / "f.db", "--json"},
                        .environment = environment,
                        .keep_output = true}));
    const auto ending = mpirun.wait(Clock::now() + 100s);
    out_ = mpirun.output();
    err_ = mpirun.last_words();
    return ending.value_or(Ending{.code = -1});
  }

  void expect_probed() {
    EXPECT_EQ(nlohmann::json::parse(out_).at("platform"), "fake-100-nvlink-x3") << out_;
    expect_nothing_left();
  }

  void expect_nothing_left() {
    EXPECT_TRUE(soon([&] { return processes_with(kNameVariable + ("=" + name_)).empty(); }));
  }

  tool::Folder folder_{};
  std::string name_ = new_secret();
  std::string out_{};
  std::string err_{};
};

TEST_F(Mpirun, its_ranks_meet) {
  ASSERT_EQ(run(), Ending{}) << err_;
  expect_probed();
#ifdef OVERLAPTUNE_MPI
  constexpr bool kNeedsFile = false;  // MPI brings the secret
#else
  constexpr bool kNeedsFile = true;
#endif
  EXPECT_EQ(std::filesystem::exists(folder_ / "overlaptune/secret"), kNeedsFile);
}

TEST_F(Mpirun, a_rank_without_gpu_ends_all) {
  EXPECT_NE(run("no_gpu:1"), Ending{});
  EXPECT_NE(err_.find("no GPU 1"), std::string::npos) << err_;
  expect_nothing_left();
}

TEST_F(Mpirun, by_mpi_they_need_no_port_that_is_free) {
#ifndef OVERLAPTUNE_MPI
  GTEST_SKIP() << "built without OVERLAPTUNE_MPI";
#endif
  const Listener taken = value_or_throw(Listener::open());
  ASSERT_EQ(run("", taken.port()), Ending{}) << err_;
  expect_probed();
}

/// Every rank has a worker process, which takes no part in MPI.
TEST(Worker, is_not_linked_with_mpi) {
  Process loader = value_or_throw(Process::start(
      {.program = "/usr/bin/ldd", .arguments = {fake_worker()}, .keep_output = true}));
  ASSERT_EQ(loader.wait(Clock::now() + 20s), Ending{});
  EXPECT_EQ(loader.output().find("libmpi"), std::string::npos) << loader.output();
}

}  // namespace
}  // namespace overlaptune::cuda
