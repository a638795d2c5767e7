#include "reports/nccl_tuner.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

constexpr std::int64_t kMiB = 1 << 20;

Measurement measured(std::int64_t mib, int ctas, double time, Transport transport = Transport::ring,
                     Collective collective = Collective::reduce_scatter) {
  return {.probe = CollectiveProbe{collective, {mib * kMiB}, 4, ctas, transport},
          .time = {us(time), us(time), us(time), 9}};
}

NcclTunerRule rule(std::int64_t least, std::int64_t most, int channels) {
  return {Collective::reduce_scatter, 4, {least}, {most}, channels};
}

/// 8 CTAs are best for 1 and 2 MiB, 16 from 4 MiB on.
const std::vector<Measurement> kTwoRanges{
    measured(1, 8, 1), measured(1, 16, 2), measured(2, 8, 3),  measured(2, 16, 4),
    measured(4, 8, 9), measured(4, 16, 5), measured(8, 8, 20), measured(8, 16, 9)};

TEST(NcclTunerTest, ARuleReachesToTheNextSizeWithAnotherChoice) {
  const auto made = nccl_tuner_rules(kTwoRanges, {});
  EXPECT_THAT(made.rules, ElementsAre(rule(kMiB, 4 * kMiB - 1, 8), rule(4 * kMiB, 8 * kMiB, 16)));
  EXPECT_EQ(made.sizes, 4);
  EXPECT_EQ(made.default_faster, 0);
}

TEST(NcclTunerTest, LeavesOutSizesAndCountsThatAreNotWanted) {
  EXPECT_THAT(nccl_tuner_rules(kTwoRanges, {.from = {2 * kMiB}}).rules,
              ElementsAre(rule(2 * kMiB, 4 * kMiB - 1, 8), rule(4 * kMiB, 8 * kMiB, 16)));
  EXPECT_THAT(nccl_tuner_rules(kTwoRanges, {.most_ctas = 8}).rules,
              ElementsAre(rule(kMiB, 8 * kMiB, 8)));
  EXPECT_THAT(nccl_tuner_rules(kTwoRanges, {.most_ctas = 7}).rules, IsEmpty());
}

TEST(NcclTunerTest, NoRuleCoversASizeAtWhichNcclsOwnChoiceWasFaster) {
  auto measurements = kTwoRanges;
  measurements.push_back(measured(4, 0, 4));
  measurements.push_back(measured(8, 0, 10));
  const auto made = nccl_tuner_rules(measurements, {});
  EXPECT_EQ(made.default_faster, 1);
  EXPECT_EQ(made.sizes, 3);
  EXPECT_THAT(made.rules, ElementsAre(rule(kMiB, 2 * kMiB, 8), rule(8 * kMiB, 8 * kMiB, 16)));
}

TEST(NcclTunerTest, NothingIsLeftWhereNcclsOwnChoiceIsAlwaysFaster) {
  auto measurements = kTwoRanges;
  for (const int mib : {1, 2, 4, 8}) measurements.push_back(measured(mib, 0, 0.5));
  const auto made = nccl_tuner_rules(measurements, {});
  EXPECT_THAT(made.rules, IsEmpty());
  EXPECT_EQ(made.default_faster, 4);
  // A limit leaves SMs to other work, which NCCL's own choice would take.
  EXPECT_THAT(nccl_tuner_rules(measurements, {.most_ctas = 8}).rules,
              ElementsAre(rule(kMiB, 8 * kMiB, 8)));
}

TEST(NcclTunerTest, NeedsEveryCountAtASize) {
  auto measurements = kTwoRanges;
  measurements.push_back(measured(3, 16, 1));  // 8 CTAs might have been faster
  EXPECT_EQ(nccl_tuner_rules(measurements, {}).rules, nccl_tuner_rules(kTwoRanges, {}).rules);
}

TEST(NcclTunerTest, EqualTimesGoToTheFewerCtas) {
  EXPECT_THAT(nccl_tuner_rules(std::vector{measured(1, 16, 5), measured(1, 8, 5)}, {}).rules,
              ElementsAre(rule(kMiB, kMiB, 8)));
}

TEST(NcclTunerTest, KnowsRingsOnlyAndNoAllToAll) {
  const std::vector measurements{measured(1, 8, 1, Transport::symmetric),
                                 measured(1, 8, 1, Transport::copy_engine), measured(1, 0, 1),
                                 measured(1, 8, 1, Transport::ring, Collective::all_to_all),
                                 Measurement{.probe = CopyProbe{{kMiB}, 8}}};
  EXPECT_THAT(nccl_tuner_rules(measurements, {}).rules, IsEmpty());
}

TEST(NcclTunerTest, WritesTheColumnsOfThePlugin) {
  EXPECT_EQ(to_csv(nccl_tuner_table(std::vector{rule(1, 2, 8)}, "ll128")),
            "collective_type,min_bytes,max_bytes,algorithm,protocol,channels,nNodes,nRanks,"
            "numPipeOps,regBuff\nreducescatter,1,2,ring,ll128,8,-1,4,-1,-1\n");
}

}  // namespace
}  // namespace overlaptune
