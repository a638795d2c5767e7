#include "machine/controller/launch/installation.hpp"

#include <gtest/gtest.h>

#include "machine/catalogue.hpp"
#include "tests/machine/controller/fixtures.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;

MachineEntry cuda_entry() {
  const auto entries = value_or_throw(list_machines({}));
  return entries.back();
}

TEST(Installation, gpus_are_what_the_worker_says) {
  const Variable worker(kWorkerVariable, fake_worker());
  const Variable devices("FAKE_DEVICES", "3");
  const auto installation = find_installation();
  ASSERT_TRUE(installation) << installation.error().message;
  EXPECT_EQ(installation->devices.size(), 3U);
  const MachineEntry entry = cuda_entry();
  EXPECT_TRUE(entry.available) << entry.reason;
  EXPECT_EQ(entry.description,
            "3 x NVIDIA Fake 100 of this host, nvlink: sequential, chunked, signaled, waiting, "
            "peer_store");
}

TEST(Installation, no_worker_means_no_cuda_support) {
  const Variable worker(kWorkerVariable, "/no/such/worker");
  EXPECT_NE(cuda_entry().reason.find("/no/such/worker"), std::string::npos);
  EXPECT_FALSE(cuda_entry().available);
}

TEST(Installation, the_reason_is_in_the_worker_s_words) {
  const Variable worker(kWorkerVariable, fake_worker());
  const Variable devices("FAKE_DEVICES", "no driver is loaded");
  EXPECT_EQ(cuda_entry().reason, "no driver is loaded");
  const auto machine = open_machine("cuda", {});
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::machine_unavailable);
  EXPECT_EQ(machine.error().message, "machine cuda: no driver is loaded");
}

TEST(Installation, one_gpu_is_not_enough_without_a_launcher) {
  const Variable worker(kWorkerVariable, fake_worker());
  const Variable devices("FAKE_DEVICES", "1");
  EXPECT_NE(cuda_entry().reason.find("at least two"), std::string::npos);
}

TEST(Installation, ranks_share_gpus_where_a_variable_says_so) {
  const Variable worker(kWorkerVariable, fake_worker());
  const Variable devices("FAKE_DEVICES", "1");
  {
    const Variable ranks(kRanksPerGpuVariable, "2");
    EXPECT_EQ(cuda_entry().description,
              "1 x NVIDIA Fake 100 of this host, nvlink, 2 ranks on each: sequential, chunked, "
              "signaled, waiting, peer_store");
    const auto machine = open_machine("cuda", {});
    ASSERT_TRUE(machine) << machine.error().message;
    EXPECT_EQ((*machine)->platform().name, "fake-100-shared_gpu-x2");
    EXPECT_FALSE(open_machine("cuda", {.ranks = 3}));
  }
  for (const char* wrong : {"0", "5", "", "2x"}) {
    const Variable ranks(kRanksPerGpuVariable, wrong);
    EXPECT_NE(cuda_entry().reason.find("expected a whole number from 1 to 4"), std::string::npos)
        << wrong;
  }
}

TEST(Installation, ranks_of_a_launcher_share_no_gpu) {
  const auto own = own_gpu({.devices = std::vector<Device>(2), .ranks_per_gpu = 2},
                           {.launcher = Launcher::srun, .size = 2});
  ASSERT_FALSE(own);
  EXPECT_EQ(own.error().message,
            "OVERLAPTUNE_RANKS_PER_GPU: expected no launcher: start the program by itself");
}

TEST(Installation, under_a_launcher_each_rank_has_a_gpu_of_its_own) {
  const auto gpu = [](std::size_t gpus, int local_rank) {
    return own_gpu(
        {.devices = std::vector<Device>(gpus)},
        {.launcher = Launcher::srun, .rank = local_rank, .size = 4, .local_rank = local_rank});
  };
  EXPECT_EQ(gpu(4, 3), 3);
  EXPECT_EQ(gpu(1, 3), 0);  // the launcher shows each rank its own only
  const auto none = gpu(2, 3);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("one rank a GPU"), std::string::npos);
  EXPECT_FALSE(gpu(0, 0));
}

TEST(Installation, a_worker_that_hangs_is_not_waited_for) {
  const Variable worker(kWorkerVariable, fake_worker());
  const Variable devices("FAKE_DEVICES", "hang");
  const auto installation = find_installation(100ms);
  ASSERT_FALSE(installation);
  EXPECT_NE(installation.error().message.find("no answer within 0.1 s"), std::string::npos);
}

TEST(Installation, a_program_that_is_no_worker_is_quoted) {
  const Variable worker(kWorkerVariable, "/bin/false");
  EXPECT_NE(cuda_entry().reason.find("/bin/false --devices: ended with code 1"), std::string::npos);
}

TEST(Installation, auto_takes_the_gpus_if_there_are_any) {
  const Variable worker(kWorkerVariable, fake_worker());
  {
    const Variable devices("FAKE_DEVICES", "2");
    const auto machine = open_machine("auto", {});
    ASSERT_TRUE(machine) << machine.error().message;
    EXPECT_EQ((*machine)->platform().name, "fake-100-nvlink-x2");
    const auto refused = open_machine("cuda", {.ranks = 3});
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
  }
  const Variable devices("FAKE_DEVICES", "0");
  EXPECT_EQ(value_or_throw(open_machine("auto", {}))->platform().machine, "sim");
}

}  // namespace
}  // namespace overlaptune::cuda
