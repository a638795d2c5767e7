// The times that a winner is compared with, on a machine whose probes take what a test says.

#include "tuner/validate.hpp"

#include <functional>
#include <limits>
#include <optional>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/tuner/scripted_machine.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;

const Problem kProblem{Op::gemm_reduce_scatter, 4096, 8192, 1024, Elements::bf16, 8};
const Tile kTile{128, 256, 64, 4, 1};
const Tile kOther{128, 128, 64, 4, 1};
const std::vector<Config> kTiled{Chunked{.comm_ctas = 8, .chunks = 2},
                                 Signaled{.tile = kTile, .swizzle = 2},
                                 PeerStore{.tile = kOther, .swizzle = 4}};

/// A machine that cannot measure some probes.
class ProbedMachine : public ScriptedMachine {
 public:
  [[nodiscard]] Expected<Measurement> measure(const Probe& probe) override {
    probes.push_back(probe);
    if (const auto error = refused(probe)) return tl::make_unexpected(*error);
    return ScriptedMachine::measure(probe);
  }
  std::vector<Probe> probes{};
  std::function<std::optional<Error>(const Probe&)> refused = [](const Probe&) {
    return std::nullopt;
  };
};

Probe gemm(const Tile& tile, int swizzle) {
  GemmProbe probe{.m = 4096, .n = 8192, .k = 1024, .elements = Elements::bf16};
  probe.tile = tile;
  probe.swizzle = swizzle;
  return probe;
}

TEST(GemmTimes, is_the_librarys_or_that_of_a_tile) {
  ProbedMachine machine;
  machine.probe_time = [](const Probe& probe) {
    const Tile& tile = std::get<GemmProbe>(probe).tile;
    return us(tile == kTile ? 70 : tile == kOther ? 80 : 90);
  };
  EXPECT_EQ(value_or_throw(gemm_times(machine, kProblem, {})).fastest, us(90));
  machine.probes.clear();
  const GemmTimes times = value_or_throw(gemm_times(machine, kProblem, kTiled));
  EXPECT_EQ(times.library, us(90));
  EXPECT_EQ(times.fastest, us(70));
  // `signaled` walks the panels of all 8 row blocks together.
  EXPECT_THAT(machine.probes, ElementsAre(gemm({}, 0), gemm(kTile, 2 * 8), gemm(kOther, 4)));
}

TEST(GemmTimes, a_tile_that_cannot_be_measured_is_passed_over) {
  ProbedMachine machine;
  machine.refused = [](const Probe& probe) -> std::optional<Error> {
    if (std::get<GemmProbe>(probe).tile != kTile) return std::nullopt;
    return Error{ErrorKind::bad_input, "no such tile"};
  };
  machine.probe_time = [](const Probe& probe) {
    return us(std::get<GemmProbe>(probe).tile == kOther ? 80 : 90);
  };
  EXPECT_EQ(value_or_throw(gemm_times(machine, kProblem, kTiled)).fastest, us(80));
  machine.refused = [](const Probe&) { return Error{ErrorKind::bad_input, "no GEMM at all"}; };
  EXPECT_EQ(value_or_throw(gemm_times(machine, kProblem, kTiled)).fastest,
            us(std::numeric_limits<double>::infinity()));
}

TEST(GemmTimes, a_lost_machine_is_an_error) {
  ProbedMachine machine;
  machine.refused = [](const Probe& probe) -> std::optional<Error> {
    if (std::get<GemmProbe>(probe).tile != kOther) return std::nullopt;
    return Error{ErrorKind::machine_unavailable, "gone"};
  };
  const auto time = gemm_times(machine, kProblem, kTiled);
  ASSERT_FALSE(time);
  EXPECT_EQ(time.error().message, "gone");
}

/// C has 4096 x 8192 elements of 2 bytes: 64 MiB.
TEST(FastestCollective, may_be_in_equal_pieces) {
  ProbedMachine machine;
  const auto mib = [](const Probe& probe) {
    return static_cast<double>(std::get<CollectiveProbe>(probe).bytes.count) / (1 << 20);
  };
  const std::vector<Config> ring{Sequential{.comm_ctas = 16}};
  machine.probe_time = [&](const Probe& probe) { return us(10 + mib(probe)); };
  EXPECT_EQ(value_or_throw(fastest_collective(machine, kProblem, ring)), us(74));
  std::vector<double> sizes;
  for (const Probe& probe : machine.probes) {
    sizes.push_back(mib(probe));
    EXPECT_EQ(std::get<CollectiveProbe>(probe).collective, Collective::reduce_scatter);
    EXPECT_EQ(std::get<CollectiveProbe>(probe).comm_ctas, 16);
    EXPECT_EQ(std::get<CollectiveProbe>(probe).ranks, 8);
  }
  EXPECT_THAT(sizes, ElementsAre(64, 32, 16, 8));
  // Where large ones are slow, eight pieces of 8 us each are faster than four of 16 us or more.
  machine.probe_time = [&](const Probe& probe) { return us(mib(probe) * mib(probe) / 8); };
  EXPECT_EQ(value_or_throw(fastest_collective(machine, kProblem, ring)), us(8 * 8));
}

TEST(FastestCollective, is_that_of_the_fastest_setting_that_can_be_measured) {
  ProbedMachine machine;
  const std::vector<Config> settings{Sequential{.comm_ctas = 4}, Sequential{.comm_ctas = 8},
                                     Sequential{.comm_ctas = 16, .transport = Transport::symmetric},
                                     PeerStore{.tile = kTile}};
  machine.probe_time = [](const Probe& probe) {
    return us(std::get<CollectiveProbe>(probe).comm_ctas == 8 ? 50 : 60);
  };
  machine.refused = [](const Probe& probe) -> std::optional<Error> {
    if (std::get<CollectiveProbe>(probe).transport == Transport::ring) return std::nullopt;
    return Error{ErrorKind::bad_input, "no such windows"};
  };
  EXPECT_EQ(value_or_throw(fastest_collective(machine, kProblem, settings)), us(50));
  EXPECT_EQ(machine.probes.size(), 3U * 4U);  // `peer_store` has no collective
  machine.refused = [](const Probe&) { return Error{ErrorKind::machine_unavailable, "gone"}; };
  EXPECT_FALSE(fastest_collective(machine, kProblem, settings));
}

RunResult timed(std::vector<std::vector<double>> ranks) {
  RunResult result;
  for (const auto& times : ranks) {
    auto& rank = result.rank_times.emplace_back();
    for (const double time : times) rank.push_back(us(time));
  }
  return result;
}

TEST(Judged, a_repetition_takes_as_long_as_its_slowest_rank) {
  // The slowest ranks take 50, 40 and 20 us, beside 100, 100 and 80 us: 2, 2.5 and 4 times as fast.
  const Candidate candidate =
      judged({}, timed({{50, 30, 20}, {10, 40, 15}}), timed({{100, 90, 80}, {70, 100, 10}}));
  EXPECT_EQ(candidate.verdict, Verdict::valid);
  ASSERT_TRUE(candidate.measured && candidate.speedup);
  EXPECT_EQ(candidate.measured->median, us(40));
  EXPECT_EQ(candidate.measured->count, 3);
  EXPECT_DOUBLE_EQ(candidate.speedup->median, 2.5);
  EXPECT_DOUBLE_EQ(candidate.speedup->p10, 2 + 0.2 * 0.5);
  EXPECT_DOUBLE_EQ(candidate.speedup->p90, 2.5 + 0.8 * 1.5);
}

TEST(Judged, what_failed_has_no_speedup) {
  RunResult failed = timed({{50}});
  failed.verdict = Verdict::wrong;
  failed.reason = "C differs";
  const Candidate wrong = judged({}, failed, timed({{100}}));
  EXPECT_EQ(wrong.verdict, Verdict::wrong);
  EXPECT_EQ(wrong.reason, "C differs");
  EXPECT_FALSE(wrong.speedup);
  EXPECT_FALSE(judged({}, timed({{50}}), failed).speedup);
  Candidate before;
  before.measured = Summary{us(1), us(1), us(1), 1};
  EXPECT_FALSE(judged(before, {}, timed({{100}})).measured);
}

}  // namespace
}  // namespace overlaptune
