#include "probes/cost_limit.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "probes/probes.hpp"
#include "tests/db/samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

CollectiveProbe reduction(std::int64_t mib, int ctas = 16) {
  return {Collective::all_reduce, {mib * kMiB}, 4, ctas, Transport::ring};
}

Measurement measured(const CollectiveProbe& probe, double ms) {
  return {.probe = probe, .time = {.median = us(1000 * ms)}};
}

/// 64 MiB take 25 ms, so 256 MiB take 100 ms at most, and 1 GiB 400 ms.
TEST(CostLimit, forbids_what_takes_longer_by_its_bytes) {
  CostLimit limit;
  EXPECT_FALSE(limit.forbids(reduction(1024)));  // nothing is known
  limit.learn(measured(reduction(64), 25));
  EXPECT_FALSE(limit.forbids(reduction(256)));
  EXPECT_TRUE(limit.forbids(reduction(1024)));
  EXPECT_FALSE(limit.forbids(reduction(1024, 8)));  // another setting
}

TEST(CostLimit, judges_by_the_largest_that_is_known) {
  CostLimit limit;
  limit.learn(measured(reduction(256), 30));
  limit.learn(measured(reduction(1), 20));  // an outlier: 1 GiB would take 20 s
  EXPECT_FALSE(limit.forbids(reduction(1024)));
  EXPECT_FALSE(limit.forbids(reduction(256)));  // no larger than what was measured
}

TEST(CostLimit, counts_the_collective_beside_a_gemm) {
  CostLimit limit;
  limit.learn(measured(reduction(16), 100));
  EXPECT_TRUE(limit.forbids(ConcurrentProbe{.collective = reduction(64)}));
  EXPECT_TRUE(limit.forbids(SustainedProbe{.collective = reduction(64)}));
  EXPECT_FALSE(limit.forbids(GemmProbe{.m = 1, .n = 1, .k = 1}));
}

/// A link of 1 GB/s, on which GEMMs take no time. It counts the bytes that it moves.
class SlowMachine : public Machine {
 public:
  [[nodiscard]] const Platform& platform() const override { return platform_; }
  [[nodiscard]] const Capabilities& capabilities() const override { return capabilities_; }
  [[nodiscard]] Expected<Measurement> measure(const Probe& probe) override {
    const auto* collective = std::get_if<CollectiveProbe>(&probe);
    const double bytes = collective == nullptr ? 0 : static_cast<double>(collective->bytes.count);
    longest = std::max(longest, us(bytes * 1e-3));
    const Microseconds time = us(10 + bytes * 1e-3);
    return Measurement{.probe = probe, .time = {time, time, time, 1}};
  }
  [[nodiscard]] Expected<std::vector<RunResult>> run(const Problem&, std::span<const Config>,
                                                     const RunOptions&) override {
    return bad_input("no configs here");
  }
  Microseconds longest{};

 private:
  Platform platform_{.machine = "cuda", .name = "slow", .gpu_count = 4, .sms = 132};
  Capabilities capabilities_{};
};

TEST(RunProbes, leaves_out_what_takes_too_long_and_counts_it) {
  const TemporaryFolder folder;
  Store store(folder / "slow.db", Access::create);
  SlowMachine machine;
  const std::vector<Probe> plan{reduction(16), reduction(64), reduction(256), reduction(1024)};
  const auto go_on = [](std::size_t, std::size_t, std::string_view) { return true; };
  const auto report = run_probes(machine, store, plan, {}, false, go_on);
  ASSERT_TRUE(report);
  EXPECT_EQ(report->measured, 2);  // 17 and 67 ms; the others would take 268 ms and more
  EXPECT_EQ(report->too_long, 2);
  EXPECT_LT(machine.longest, kLongestCollective);
  // A second look judges by what is stored.
  const auto again = run_probes(machine, store, plan, {}, false, go_on);
  ASSERT_TRUE(again);
  EXPECT_EQ(again->measured, 0);
  EXPECT_EQ(again->known, 2);
  EXPECT_EQ(again->too_long, 2);
}

TEST(RunProbes, says_how_far_it_is_and_finishes_its_run) {
  const TemporaryFolder folder;
  Store store(folder / "told.db", Access::create);
  SlowMachine machine;
  const std::vector<Probe> plan{reduction(1), reduction(2), reduction(4)};
  std::vector<std::string> told;
  // A run that is stopped after two probes is not finished; the next one measures the third.
  const auto tell = [&](std::size_t done, std::size_t total, std::string_view what) {
    told.push_back(fmt::format("{}/{} {}", done, total, what));
    return done < 2;
  };
  ASSERT_TRUE(run_probes(machine, store, plan, {}, false, tell));
  ASSERT_EQ(store.runs().size(), 1U);
  EXPECT_FALSE(store.runs().front().finished);
  EXPECT_EQ(told, (std::vector{"0/3 " + to_string(plan[0]), "1/3 " + to_string(plan[1]),
                               "2/3 " + to_string(plan[2])}));
  told.clear();
  const auto rest = run_probes(machine, store, plan, {}, false, tell);
  ASSERT_TRUE(rest);
  EXPECT_EQ(rest->known, 2);
  EXPECT_EQ(rest->measured, 1);
  EXPECT_EQ(told, (std::vector<std::string>{"0/1 " + to_string(plan[2]), "1/1 probes"}));
  ASSERT_EQ(store.runs().size(), 2U);
  EXPECT_TRUE(store.runs().back().finished);
  // Asked for again, all are measured.
  const auto go_on = [](std::size_t, std::size_t, std::string_view) { return true; };
  EXPECT_EQ(value_or_throw(run_probes(machine, store, plan, {}, true, go_on)).measured, 3);
}

}  // namespace
}  // namespace overlaptune
