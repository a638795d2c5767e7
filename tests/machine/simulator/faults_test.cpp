#include "machine/simulator/faults.hpp"

#include <map>

#include <gtest/gtest.h>

namespace overlaptune::sim {
namespace {

TEST(Faults, reads_what_is_documented) {
  const auto faults = parse_faults("hang=0.02,wrong=0.03,crash=0.04,rank_died=0.05,sequential=1");
  ASSERT_TRUE(faults);
  EXPECT_EQ(faults->hang, 0.02);
  EXPECT_EQ(faults->rank_died, 0.05);
  EXPECT_TRUE(faults->sequential);
  EXPECT_TRUE(parse_faults(""));
}

TEST(Faults, slow_configs_are_slow_in_one_phase_and_sequential_is_not) {
  const Faults faults = *parse_faults("slow_cold=0.25,slow_beside=0.5,hang=1");
  int cold = 0;
  int beside = 0;
  constexpr int kCount = 20000;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    const Config config = Signaled{};
    cold += faults.slowdown(config, RunPhase::cold, Noise(i)) > 1;
    beside += faults.slowdown(config, RunPhase::beside, Noise(i)) > 1;
    EXPECT_EQ(faults.slowdown(config, RunPhase::steady, Noise(i)), 1);
    EXPECT_EQ(faults.slowdown(Sequential{}, RunPhase::cold, Noise(i)), 1);
  }
  EXPECT_NEAR(cold, 0.25 * kCount, 250);
  EXPECT_NEAR(beside, 0.5 * kCount, 250);
}

TEST(Faults, refuses_anything_else_in_one_line) {
  for (const char* text :
       {"hang", "hang=", "hang=2", "hang=-0.1", "hang=nan", "hang=x", "=0.1", "burn=0.1",
        "hang=0.7,crash=0.7", "hang=0.1,,wrong=0.1", "slow_cold=2", "slow=0.1"}) {
    const auto faults = parse_faults(text);
    ASSERT_FALSE(faults) << text;
    EXPECT_EQ(faults.error().message.find("faults: "), 0U) << text;
    EXPECT_EQ(faults.error().message.find('\n'), std::string::npos) << text;
  }
}

TEST(Faults, happen_as_often_as_asked_and_never_to_sequential) {
  const Faults faults = *parse_faults("hang=0.1,wrong=0.2,crash=0.05,rank_died=0.15");
  std::map<Verdict, int> seen;
  Config config = Signaled{};
  constexpr int kCount = 20000;
  for (std::uint64_t i = 0; i < kCount; ++i) ++seen[faults.verdict(config, Noise(i))];
  EXPECT_NEAR(seen[Verdict::timeout], 0.1 * kCount, 200);
  EXPECT_NEAR(seen[Verdict::wrong], 0.2 * kCount, 200);
  EXPECT_NEAR(seen[Verdict::crashed], 0.05 * kCount, 200);
  EXPECT_NEAR(seen[Verdict::rank_died], 0.15 * kCount, 200);
  config = Sequential{};
  for (std::uint64_t i = 0; i < 1000; ++i) {
    EXPECT_EQ(faults.verdict(config, Noise(i)), Verdict::valid);
  }
}

}  // namespace
}  // namespace overlaptune::sim
