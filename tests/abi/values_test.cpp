#include "core/abi/values.hpp"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/config/tiling.hpp"
#include "tests/core/config_cases.hpp"

namespace overlaptune::c {
namespace {

using ::testing::HasSubstr;

/// The message of the refusal; empty where there is none.
std::string refusal(const char* line) {
  try {
    (void)config_of(line);
    return "";
  } catch (const Refusal& refused) {
    EXPECT_EQ(refused.status, OVT_ERROR_ARGUMENT);
    return refused.message;
  }
}

TEST(ValuesTest, WhatIsLegalIsTakenAndNothingElse) {
  int taken = 0;
  int refused = 0;
  for (const auto& [config, is_legal] : cases::alone()) {
    const std::string line = to_string(config);
    const std::string said = refusal(line.c_str());
    ASSERT_EQ(said.empty(), is_legal) << line << ": " << said;
    ++(is_legal ? taken : refused);
    if (is_legal) {
      ASSERT_EQ(config_of(line.c_str()), config);
    }
  }
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 100);
}

TEST(ValuesTest, TheLongestConfigHasALineThatFits) {
  // The most groups that a plan may have, each with as many digits as their sum allows.
  const std::int64_t most = kMostTiles / kMostRegions;
  Signaled longest{.tile = {65536, 65536, 65536, 64, 2},
                   .swizzle = 1 << 30,
                   .comm_ctas = 65535,
                   .transport = kSymmetricThenRing,
                   .wait = Wait::kernel};
  longest.wave_groups.assign(kMostRegions, most);
  const std::string line = to_string(Config(longest));
  EXPECT_GT(line.size(), 3000U);
  EXPECT_LT(line.size(), std::size_t{OVT_CONFIG_SIZE});
  EXPECT_EQ(config_of(line.c_str()), Config(longest));
}

TEST(ValuesTest, LinesThatAreNoConfigAreRefused) {
  EXPECT_EQ(refusal(nullptr), "config: NULL");
  EXPECT_THAT(refusal("signaled tile=0x1x1"), HasSubstr("config: tile = '0x1x1': expected"));
  EXPECT_EQ(refusal(std::string(OVT_CONFIG_SIZE, ' ').c_str()),
            "config: 4096 characters: expected at most 4095");
}

TEST(ValuesTest, APlatformComesBackAsItWasAndTextsAreNeverCut) {
  const Platform platform{.machine = "cuda",
                          .name = "h200-nvlink-x8",
                          .gpu_model = "NVIDIA H200",
                          .gpu_count = 8,
                          .sms = 132,
                          .compute_capability = 90,
                          .memory = Bytes{141'000'000'000},
                          .driver_version = "580.159.04",
                          .cuda_version = "13.0",
                          .nccl_version = "2.28.9",
                          .topology = "NVSwitch x18",
                          .link = "nvlink",
                          .multicast_allowed = true,
                          .details = std::string(OVT_TEXT_SIZE - 1, 'x')};
  ovt_platform described{};
  described.size = sizeof described;
  write(platform, &described);
  EXPECT_EQ(platform_of(&described), platform);
  Platform longer = platform;
  longer.details += 'x';
  EXPECT_THROW(write(longer, &described), Refusal);
}

}  // namespace
}  // namespace overlaptune::c
