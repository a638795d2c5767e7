#include "machine/controller/cuda_machine.hpp"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <unistd.h>

#include <gtest/gtest.h>

#include "tests/machine/controller/fixtures.hpp"

namespace overlaptune::cuda {
namespace {

using namespace std::chrono_literals;
using Times = std::vector<Microseconds>;

const Problem kProblem{.op = Op::gemm_all_reduce, .m = 128, .n = 128, .k = 128, .ranks = 3};

std::unique_ptr<CudaMachine> open(CudaOptions options = fake_options(3)) {
  return value_or_throw(CudaMachine::open(options));
}

/// A failing config between two good ones spoils only its own result.
void expect_verdict(Act act, Verdict verdict, const std::string& part,
                    const Limits& limits = short_limits()) {
  CudaOptions options = fake_options(3);
  options.limits = limits;
  const auto machine = open(options);
  const Config other = Chunked{.comm_ctas = 16, .chunks = 2};
  const std::vector<Config> configs{Config{}, config_that(act), other};
  const auto results = machine->run(kProblem, configs, {});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ((*results)[0].verdict, Verdict::valid) << (*results)[0].reason;
  EXPECT_EQ((*results)[0].rank_times.size(), 3U);
  EXPECT_EQ((*results)[1].verdict, verdict);
  EXPECT_NE((*results)[1].reason.find(part), std::string::npos) << (*results)[1].reason;
  EXPECT_TRUE((*results)[1].rank_times.empty() || verdict == Verdict::valid);
  EXPECT_EQ((*results)[2].verdict, Verdict::valid) << (*results)[2].reason;
  EXPECT_TRUE(machine->measure(probe_that(Act{})));
}

TEST(CudaMachine, has_the_platform_of_its_workers) {
  CudaOptions options = fake_options(3);
  options.allow_multicast = true;
  const auto machine = open(options);
  EXPECT_EQ(machine->platform().name, "fake-100-nvlink-x3");
  EXPECT_EQ(machine->platform().machine, "cuda");
  EXPECT_TRUE(machine->platform().multicast_allowed);
  EXPECT_EQ(machine->transports(), (std::vector{Transport::ring, Transport::symmetric,
                                                Transport::copy_engine, Transport::peer_access}));
  EXPECT_EQ(machine->strategies(),
            (std::vector{strategy_of<Sequential>(), strategy_of<Chunked>(), strategy_of<Signaled>(),
                         strategy_of<Waiting>(), strategy_of<PeerStore>()}));
}

TEST(CudaMachine, ranks_that_share_gpus_are_hosts_of_their_own_on_a_platform_of_its_own) {
  const Variable fault("FAKE_FAULT", "own_host");
  CudaOptions options = fake_options(4);
  EXPECT_FALSE(CudaMachine::open(options));  // without host names
  options.ranks_per_gpu = 2;
  const auto machine = open(options);
  EXPECT_EQ(machine->platform().name, "fake-100-shared_gpu-x4");
  EXPECT_EQ(machine->platform().topology, "shared GPU");
  EXPECT_EQ(machine->transports(),
            (std::vector{Transport::ring, Transport::copy_engine, Transport::peer_access}));
}

/// The variables reach the workers, which say over what NCCL will go.
TEST(CudaMachine, without_peer_access_and_shared_memory_is_another_platform) {
  const Platform usual = open()->platform();
  const Variable no_peers("NCCL_P2P_DISABLE", "1");
  const Platform over_host_memory = open()->platform();
  EXPECT_EQ(over_host_memory.name, "fake-100-host_memory-x3");
  const Variable no_shared_memory("NCCL_SHM_DISABLE", "1");
  const auto machine = open();
  const Platform& over_sockets = machine->platform();
  EXPECT_EQ(over_sockets.name, "fake-100-socket-x3");
  EXPECT_EQ(machine->transports(), std::vector{Transport::ring});
  EXPECT_EQ(machine->strategies(), (std::vector{strategy_of<Sequential>(), strategy_of<Chunked>(),
                                                strategy_of<Signaled>()}));
  const std::set<std::string> fingerprints{fingerprint(usual), fingerprint(over_host_memory),
                                           fingerprint(over_sockets)};
  EXPECT_EQ(fingerprints.size(), 3U);
}

TEST(CudaMachine, ranks_with_different_gpus_are_refused) {
  const Variable fault("FAKE_FAULT", "other_model:2");
  const auto machine = CudaMachine::open(fake_options(3));
  ASSERT_FALSE(machine);
  EXPECT_EQ(machine.error().kind, ErrorKind::machine_unavailable);
  EXPECT_NE(machine.error().message.find("rank 2"), std::string::npos) << machine.error().message;
}

TEST(CudaMachine, measures_the_slowest_rank) {
  const auto machine = open();
  const auto measured = machine->measure(GemmProbe{.m = 1, .n = 8, .k = 8});
  ASSERT_TRUE(measured) << measured.error().message;
  const Times slowest{us(12), us(22), us(32)};
  EXPECT_EQ(measured->time, summarize(slowest));
  EXPECT_EQ(measured->library_tile, (Tile{128, 256, 64, 4, 2}));
  EXPECT_EQ(measured->conditions.sm_clock_mhz, 1898);
}

TEST(CudaMachine, runs_configs_with_what_runs_alone) {
  const auto machine = open();
  const std::vector<Config> configs{Config{}, config_that(Act::be_wrong)};
  const auto results = machine->run(kProblem, configs, {});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ(slowest_rank(results->front()), (Times{us(12), us(22), us(32)}));
  EXPECT_EQ(results->front().gemm_alone, (Times{us(7), us(17), us(27)}));
  EXPECT_EQ(results->front().collective_alone, (Times{us(8), us(18), us(28)}));
  EXPECT_EQ(results->back().verdict, Verdict::wrong);
  EXPECT_EQ(results->back().reason, "rank 1: a relative error of 2");
}

TEST(CudaMachine, workers_run_the_phase_that_is_asked_for) {
  const auto machine = open();
  const std::vector<Config> configs{Config{}};
  const auto cold = machine->run(kProblem, configs, {.phase = RunPhase::cold});
  ASSERT_TRUE(cold) << cold.error().message;
  EXPECT_EQ(slowest_rank(cold->front()), (Times{us(42), us(52), us(62)}));
  const auto beside = machine->run(kProblem, configs, {.phase = RunPhase::beside});
  ASSERT_FALSE(beside);
  EXPECT_EQ(beside.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(beside.error().message, "no memory for a copy");
  EXPECT_TRUE(machine->run(kProblem, configs, {}));
}

TEST(CudaMachine, an_illegal_config_costs_itself_only) {
  const auto machine = open();
  const std::vector<Config> configs{Chunked{.comm_ctas = 0, .chunks = 4}, Config{},
                                    Chunked{.comm_ctas = 65, .chunks = 4}};
  for (int time = 0; time < 4; ++time) {
    const auto results = machine->run(kProblem, configs, {});
    ASSERT_TRUE(results) << results.error().message;
    EXPECT_EQ((*results)[0].verdict, Verdict::unsupported);
    EXPECT_EQ((*results)[0].reason, "ctas = 0: expected 1 or more with chunked");
    EXPECT_EQ((*results)[1].verdict, Verdict::valid);
    EXPECT_EQ((*results)[2].reason, "ctas = 65: expected at most 64");
  }
  const auto none = machine->run(kProblem, {&configs[2], 1}, {});
  ASSERT_TRUE(none) << none.error().message;
  EXPECT_EQ(none->front().verdict, Verdict::unsupported);
}

TEST(CudaMachine, what_it_cannot_do_is_bad_input) {
  const auto machine = open();
  const auto probe = machine->measure(probe_that(Act::refuse));
  ASSERT_FALSE(probe);
  EXPECT_EQ(probe.error().kind, ErrorKind::bad_input);
  const std::vector<Config> configs{config_that(Act::refuse)};
  EXPECT_EQ(machine->run(kProblem, configs, {}).error().kind, ErrorKind::bad_input);
  Problem large = kProblem;
  large.ranks = 4;
  EXPECT_EQ(machine->run(large, configs, {}).error().kind, ErrorKind::bad_input);
  EXPECT_TRUE(machine->measure(probe_that(Act{})));
}

TEST(CudaMachine, a_config_that_hangs_is_a_timeout) {
  // The limit is longer than anything else that the test does.
  Limits limits = short_limits();
  limits.unknown = 1500ms;
  expect_verdict(Act::hang, Verdict::timeout, "no word for 1.5 s after step 'check'", limits);
}

TEST(CudaMachine, a_config_that_crashes_a_worker) {
  expect_verdict(Act::crash, Verdict::crashed,
                 "rank 2 on " + host_name() + ": killed by signal 11");
}

TEST(CudaMachine, a_config_whose_worker_ends) {
  expect_verdict(Act::exit, Verdict::crashed, "ended with code 7: about to go");
}

TEST(CudaMachine, a_config_that_fails_in_the_backend) {
  expect_verdict(Act::fail, Verdict::crashed, "an illegal memory access");
}

TEST(CudaMachine, a_config_whose_rank_is_killed) {
  expect_verdict(Act::be_killed, Verdict::rank_died, "killed by signal 9");
}

TEST(CudaMachine, an_injected_fault_strikes_once) {
  CudaOptions options = fake_options(2);
  options.fault = "1:killed_rank";
  const auto machine = open(options);
  Problem problem = kProblem;
  problem.ranks = 2;
  const std::vector<Config> configs{Config{}, Chunked{.comm_ctas = 16, .chunks = 2},
                                    Chunked{.comm_ctas = 16, .chunks = 3}};
  const auto results = machine->run(problem, configs, {});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ((*results)[1].verdict, Verdict::rank_died);
  EXPECT_EQ((*results)[2].verdict, Verdict::valid);
}

TEST(CudaMachine, what_fails_before_any_config_is_tried_once_more) {
  CudaOptions options = fake_options(2);
  options.fault = "early";
  const auto machine = open(options);
  Problem problem = kProblem;
  problem.ranks = 2;
  const std::vector<Config> configs{Config{}, Chunked{.comm_ctas = 16, .chunks = 2}};
  const auto results = machine->run(problem, configs, {});
  ASSERT_TRUE(results) << results.error().message;
  EXPECT_EQ((*results)[0].verdict, Verdict::valid);
  EXPECT_EQ((*results)[1].verdict, Verdict::valid);
}

TEST(CudaMachine, a_probe_that_kills_a_worker_is_skipped) {
  const auto machine = open(fake_options(2));
  const auto failed = machine->measure(probe_that(Act::crash));
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::bad_input);
  EXPECT_NE(failed.error().message.find("killed by signal 11"), std::string::npos);
  EXPECT_TRUE(machine->measure(probe_that(Act{})));
}

TEST(CudaMachine, three_failures_in_a_row_lose_it) {
  const auto machine = open(fake_options(2));
  const auto kind = [&](Act act) { return machine->measure(probe_that(act)).error().kind; };
  EXPECT_EQ(kind(Act::exit), ErrorKind::bad_input);
  EXPECT_EQ(kind(Act::exit), ErrorKind::bad_input);
  EXPECT_TRUE(machine->measure(probe_that(Act{})));  // which ends the row
  EXPECT_EQ(kind(Act::exit), ErrorKind::bad_input);
  EXPECT_EQ(kind(Act::exit), ErrorKind::bad_input);
  const auto third = machine->measure(probe_that(Act::exit));
  EXPECT_EQ(third.error().kind, ErrorKind::machine_unavailable);
  EXPECT_NE(third.error().message.find("3 failures in a row"), std::string::npos);
  EXPECT_EQ(kind(Act{}), ErrorKind::machine_unavailable);
}

/// The result of a probe that fails, if the workers then cannot be started: "once", or always.
Expected<Measurement> fail_and_break(CudaMachine& machine, const std::string& times) {
  std::ofstream(std::getenv("FAKE_BROKEN")) << times << std::flush;
  auto failed = machine.measure(probe_that(Act::fail));
  std::filesystem::remove(std::getenv("FAKE_BROKEN"));
  return failed;
}

std::string file_of_this_test() {
  return testing::TempDir() + "fake_worker_is_broken." + std::to_string(getpid());
}

TEST(CudaMachine, workers_that_start_again_at_the_second_attempt_keep_it) {
  const Variable broken("FAKE_BROKEN", file_of_this_test());
  const auto machine = open(fake_options(2));
  const auto failed = fail_and_break(*machine, "once");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::bad_input) << failed.error().message;
  EXPECT_TRUE(machine->measure(probe_that(Act{})));
}

TEST(CudaMachine, workers_that_do_not_start_again_lose_it) {
  const Variable broken("FAKE_BROKEN", file_of_this_test());
  const auto machine = open(fake_options(2));
  const auto failed = fail_and_break(*machine, "always");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::machine_unavailable);
  EXPECT_NE(failed.error().message.find("fell off the bus"), std::string::npos)
      << failed.error().message;
}

TEST(CudaMachine, ranks_that_disagree_lose_it) {
  const auto machine = open(fake_options(2));
  const auto uneven = machine->measure(probe_that(Act::uneven));
  ASSERT_FALSE(uneven);
  EXPECT_EQ(uneven.error().kind, ErrorKind::machine_unavailable);
}

}  // namespace
}  // namespace overlaptune::cuda
