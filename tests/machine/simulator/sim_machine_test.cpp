#include "machine/simulator/sim_machine.hpp"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <unistd.h>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "machine/catalogue.hpp"
#include "strategies/simulations.hpp"
#include "tests/machine/simulator/configs.hpp"

namespace overlaptune {
namespace {

using test::chunked;
using test::run;
using test::signaled;
using test::time_us;

constexpr Tile kTile{128, 256, 64, 4, 2};
const Problem kProblem{.op = Op::gemm_reduce_scatter, .m = 8192, .n = 8192, .k = 3584, .ranks = 8};

std::unique_ptr<Machine> machine(const MachineOptions& options = {.seed = 1}) {
  return value_or_throw(open_machine("sim:h200-rings-x8", options));
}

TEST(SimMachine, describes_itself_as_simulated) {
  const Platform platform = machine()->platform();
  EXPECT_EQ(platform.machine, "sim");
  EXPECT_EQ(platform.gpu_count, 8);
  EXPECT_EQ(platform.sms, 132);
  EXPECT_NE(platform.details.find("profile "), std::string::npos);
}

TEST(SimMachine, overlap_beats_sequential_and_not_the_ideal) {
  const auto sim = machine();
  const double sequential = time_us(run(*sim, kProblem, {}));
  const double overlapped = time_us(run(*sim, kProblem, signaled(kProblem, kTile, 1, 132, 16, 4)));
  const double gemm =
      value_or_throw(sim->measure(GemmProbe{.m = 8192, .n = 8192, .k = 3584})).time.median.count();
  EXPECT_LT(overlapped, 0.95 * sequential);
  EXPECT_GT(overlapped, gemm);
}

TEST(SimMachine, all_ops_and_strategies_that_make_sense_run) {
  const auto sim = machine();
  for (const auto& op : NamesOf<Op>::all) {
    Problem problem = kProblem;
    problem.op = op.value;
    const std::vector<Config> configs{{}, chunked(4, 16), signaled(problem, kTile, 2, 132, 8, 3)};
    const auto results = value_or_throw(sim->run(problem, configs, {}));
    ASSERT_EQ(results.size(), configs.size());
    for (std::size_t i = 0; i < configs.size(); ++i) {
      const bool moves_a = op.value == Op::all_gather_gemm || op.value == Op::all_to_all_gemm;
      const bool refused = moves_a && strategy_of(configs[i]) == strategy_of<Signaled>();
      EXPECT_EQ(results[i].verdict, refused ? Verdict::unsupported : Verdict::valid)
          << op.name << " " << to_string(configs[i]) << ": " << results[i].reason;
      EXPECT_EQ(results[i].reason.empty(), !refused);
      if (refused) continue;
      ASSERT_EQ(results[i].rank_times.size(), 8U);
      for (const auto& times : results[i].rank_times) EXPECT_EQ(times.size(), 9U);
      EXPECT_TRUE(results[i].conditions.sm_clock_mhz);
    }
  }
}

// Configs are independent: the configs that run before or beside one do not change it.
TEST(SimMachine, results_depend_on_seed_problem_config_and_repetition_alone) {
  const std::vector<Config> configs{{}, chunked(2, 16), signaled(kProblem, kTile, 1, 132, 16, 4)};
  const auto together = value_or_throw(machine()->run(kProblem, configs, {}));
  const auto sim = machine();
  for (std::size_t i = configs.size(); i-- > 0;) {
    EXPECT_EQ(run(*sim, kProblem, configs[i]).rank_times, together[i].rank_times);
  }
  // More repetitions begin with the same ones.
  const RunResult longer = run(*sim, kProblem, configs[2], {.repetitions = 12});
  for (std::size_t r = 0; r < 8; ++r) {
    for (std::size_t i = 0; i < 9; ++i) {
      EXPECT_EQ(longer.rank_times[r][i], together[2].rank_times[r][i]);
    }
  }
  EXPECT_NE(run(*machine({.seed = 2}), kProblem, configs[2]).rank_times, together[2].rank_times);
}

TEST(SimMachine, repetitions_differ_a_little) {
  const Summary summary =
      summarize(slowest_rank(run(*machine(), kProblem, {}, {.repetitions = 50})));
  EXPECT_GT(summary.p90 / summary.p10, 1.003);
  EXPECT_LT(summary.p90 / summary.p10, 1.04);
}

TEST(SimMachine, timeline_is_one_chain_in_the_order_of_the_groups) {
  const Signaled config = signaled(kProblem, kTile, 1, 132, 16, 2);
  const RunResult result = run(*machine(), kProblem, config, {.timeline = true});
  ASSERT_TRUE(result.timeline);
  ASSERT_EQ(result.timeline->groups.size(), config.wave_groups.size());
  Microseconds before{};
  for (const GroupTimes& group : result.timeline->groups) {
    EXPECT_LT(group.ready, group.start);
    EXPECT_LE(before, group.start);
    EXPECT_LT(group.start, group.end);
    EXPECT_GE(group.exposed.count(), 0);
    EXPECT_LE(group.exposed, group.end - group.start);
    before = group.end;
  }
  EXPECT_GE(result.timeline->groups.back().end, result.timeline->gemm_end);
  EXPECT_NEAR(result.timeline->groups.back().end.count(), time_us(result), 0.01 * time_us(result));
  EXPECT_FALSE(run(*machine(), kProblem, config).timeline);
}

TEST(SimMachine, gathering_comes_before_its_gemm) {
  Problem problem = kProblem;
  problem.op = Op::all_gather_gemm;
  const RunResult result = run(*machine(), problem, chunked(4, 16), {.timeline = true});
  ASSERT_EQ(result.timeline->groups.size(), 4U);
  EXPECT_LT(result.timeline->groups.back().end, result.timeline->gemm_end);
  // Nothing computes until the first chunk has arrived.
  const GroupTimes& first = result.timeline->groups.front();
  EXPECT_NEAR(first.exposed.count(), (first.end - first.start).count(), 1e-6);
}

TEST(SimMachine, groups_that_are_not_contiguous_pay_for_the_copy) {
  // One row panel per rank: groups go by columns and must be copied into place.
  const Problem flat{.op = Op::gemm_all_to_all, .m = 1024, .n = 32768, .k = 4096, .ranks = 8};
  const RunResult result =
      run(*machine(), flat, signaled(flat, kTile, 1, 132, 16, 4), {.timeline = true});
  const Config whole = Signaled{.tile = kTile,
                                .swizzle = 1,
                                .comm_ctas = 16,
                                .wave_groups = {tile_order(flat, kTile, 1).tiles()}};
  const RunResult single = run(*machine(), flat, whole, {.timeline = true});
  const auto busy = [](const RunResult& found) {
    double sum = 0;
    for (const GroupTimes& group : found.timeline->groups) {
      sum += (group.end - group.start).count();
    }
    return sum;
  };
  // 64 MiB at 1500 GB/s.
  EXPECT_GT(busy(result), busy(single) + 44);
}

// Submission hides behind the GEMM; the difference that remains is the first kernel (5 us) in place
// of a replay (3.5 us).
TEST(SimMachine, eager_launch_costs_its_first_kernel) {
  const Problem small{.op = Op::gemm_all_reduce, .m = 512, .n = 1024, .k = 1024, .ranks = 2};
  const auto sim = machine();
  const double graph = time_us(run(*sim, small, {}, {.repetitions = 99}));
  const double eager = time_us(run(*sim, small, {}, {.launch = Launch::eager, .repetitions = 99}));
  EXPECT_NEAR(eager - graph, 1.5, 0.2);
}

TEST(SimMachine, without_ctas_of_its_own_a_collective_gets_the_sms_of_tiles_that_end) {
  const auto sim = machine();
  const double sequential = time_us(run(*sim, kProblem, {}));
  const Config config = signaled(kProblem, kTile, 1, 132, 0, 4);
  const RunResult result = run(*sim, kProblem, config, {.timeline = true});
  EXPECT_LT(time_us(result), sequential);
  const Timeline& seen = result.timeline.value();
  EXPECT_LT(seen.groups.front().end, seen.gemm_end);
  // The first collective does not find free SMs: by then the tiles of the next wave have begun.
  const RunResult reserved =
      run(*sim, kProblem, signaled(kProblem, kTile, 1, 132, 16, 4), {.timeline = true});
  const auto wait = [](const RunResult& of) {
    const GroupTimes& first = of.timeline.value().groups.front();
    return (first.start - first.ready).count();
  };
  EXPECT_GT(wait(result), wait(reserved));
}

TEST(SimMachine, configs_that_do_not_fit_are_unsupported_with_a_reason) {
  const auto sim = machine();
  const Signaled good = signaled(kProblem, kTile, 1, 132, 16, 4);
  const auto refused = [&](Config config, const std::string& part) {
    const RunResult result = run(*sim, kProblem, config);
    EXPECT_EQ(result.verdict, Verdict::unsupported) << to_string(config);
    EXPECT_NE(result.reason.find(part), std::string::npos) << result.reason;
    EXPECT_TRUE(result.rank_times.empty());
  };
  Signaled config = good;
  config.tile.stages = 7;
  refused(config, "does not fit");
  config = good;
  config.comm_ctas = 132;
  refused(config, "ctas = 132");
  config.comm_ctas = 0;
  config.transport = all_groups_by(Transport::peer_access);
  refused(config, "ctas = 0");
  config = good;
  config.wave_groups.pop_back();
  refused(config, "wave_groups");
  config = good;
  config.wave_groups.clear();
  refused(config, "groups");
  config = good;
  config.swizzle = 0;
  refused(config, "swizzle");
  config = good;
  config.transport = all_groups_by(Transport::symmetric);
  refused(config, "symmetric");
  refused(chunked(0, 16), "chunks");
  refused(chunked(5000, 16), "chunks");
  refused(Sequential{.transport = Transport::peer_access}, "peer_access");
  refused(Sequential{.comm_ctas = 132}, "ctas = 132");
  config = good;
  config.tile = {};
  refused(config, "tile");
}

/// The machine with symmetric windows that take three times as long as its rings.
std::unique_ptr<Machine> with_slow_windows() {
  std::ifstream known(std::string(OVERLAPTUNE_SOURCE_DIR) +
                      "/machine/simulator/profiles/h200-rings-x8.json");
  auto profile = nlohmann::json::parse(known);
  profile["name"] = "slow-windows";
  const auto rings = profile["collectives"];
  for (auto windows : rings) {
    windows["transport"] = "symmetric";
    for (auto& point : windows["times_us"]["value"]) point[1] = 3 * point[1].get<double>();
    profile["collectives"].push_back(windows);
  }
  const auto file = std::filesystem::temp_directory_path() /
                    ("slow-windows-" + std::to_string(getpid()) + ".json");
  std::ofstream(file) << profile;
  auto machine = value_or_throw(open_machine("sim:slow-windows", {.seed = 1, .profiles = {file}}));
  std::filesystem::remove(file);
  return machine;
}

TEST(SimMachine, the_last_group_of_symmetric_then_ring_takes_the_ring) {
  const auto sim = with_slow_windows();
  const auto time = [&](Signaled config, const GroupTransports& transport) {
    config.transport = transport;
    const RunResult result = run(*sim, kProblem, config);
    EXPECT_EQ(result.verdict, Verdict::valid) << result.reason;
    return time_us(result);
  };
  // With one group nothing goes through the windows; with several, all groups except the last do,
  // on as many CTAs.
  const Signaled whole = signaled(kProblem, kTile, 1, 132, 16, 1000);
  ASSERT_EQ(whole.wave_groups.size(), 1U);
  const double last_by_ring = time(whole, kSymmetricThenRing);
  EXPECT_LE(last_by_ring, time(whole, all_groups_by(Transport::ring)) * 1.02);
  EXPECT_LT(last_by_ring, 0.8 * time(whole, all_groups_by(Transport::symmetric)));
  const Signaled groups = signaled(kProblem, kTile, 1, 132, 16, 4);
  ASSERT_GT(groups.wave_groups.size(), 2U);
  const double mixed = time(groups, kSymmetricThenRing);
  EXPECT_LT(mixed, time(groups, all_groups_by(Transport::symmetric)));
  EXPECT_GT(mixed, time(groups, all_groups_by(Transport::ring)));
}

TEST(SimMachine, problems_that_do_not_fit_are_bad_input) {
  const auto sim = machine();
  const Config sequential;
  const auto refused = [&](Problem problem, const std::string& part) {
    const auto results = sim->run(problem, {&sequential, 1}, {});
    ASSERT_FALSE(results);
    EXPECT_EQ(results.error().kind, ErrorKind::bad_input);
    EXPECT_NE(results.error().message.find(part), std::string::npos) << results.error().message;
  };
  Problem problem = kProblem;
  problem.ranks = 16;
  refused(problem, "has 8 GPUs");
  problem = kProblem;
  problem.m = problem.n = problem.k = 2147483640;
  refused(problem, "GiB");
  problem = kProblem;
  problem.m = -8;
  refused(problem, "m");
}

TEST(SimMachine, simulated_faults_have_their_verdicts) {
  const Config config = signaled(kProblem, kTile, 1, 132, 16, 4);
  const auto verdict = [&](const std::string& faults) {
    return run(*machine({.seed = 1, .faults = faults}), kProblem, config);
  };
  EXPECT_EQ(verdict("hang=1").verdict, Verdict::timeout);
  EXPECT_EQ(verdict("crash=1").verdict, Verdict::crashed);
  EXPECT_EQ(verdict("rank_died=1").verdict, Verdict::rank_died);
  EXPECT_TRUE(verdict("hang=1").rank_times.empty());
  EXPECT_FALSE(verdict("hang=1").reason.empty());
  const RunResult wrong = verdict("wrong=1");
  EXPECT_EQ(wrong.verdict, Verdict::wrong);
  EXPECT_LT(time_us(wrong), time_us(verdict("")));
  EXPECT_EQ(run(*machine({.faults = "crash=1"}), kProblem, {}).verdict, Verdict::valid);
  EXPECT_EQ(run(*machine({.faults = "crash=1,sequential=1"}), kProblem, {}).verdict,
            Verdict::crashed);
}

TEST(SimMachine, extreme_problems_run) {
  const auto sim = machine();
  const std::vector<Problem> problems{
      {.op = Op::gemm_all_reduce, .m = 1, .n = 8, .k = 8, .ranks = 2},
      {.op = Op::gemm_all_to_all, .m = 8, .n = 8, .k = 8, .ranks = 8},
      {.op = Op::gemm_reduce_scatter, .m = 8, .n = 65536, .k = 8, .ranks = 8},
      {.op = Op::gemm_all_reduce, .m = 65536, .n = 8, .k = 65536, .ranks = 3}};
  for (const Problem& problem : problems) {
    for (const Config& config :
         std::vector<Config>{{}, chunked(1, 131), signaled(problem, kTile, 1, 132, 131, 8)}) {
      const RunResult result = run(*sim, problem, config);
      ASSERT_EQ(result.verdict, Verdict::valid) << to_string(problem) << result.reason;
      EXPECT_GT(time_us(result), 5) << to_string(problem) << " " << to_string(config);
    }
  }
}

template <class Own>
concept Simulated = requires {
  sizeof(sim::SimulationOf<Own>);
};

TEST(SimMachine, has_every_strategy) {
  EXPECT_EQ(machine()->strategies().size(), std::variant_size_v<Config>);
  EXPECT_TRUE(Simulated<Sequential>);
  EXPECT_FALSE(Simulated<int>);  // a strategy without a simulation does not compile
}

}  // namespace
}  // namespace overlaptune
