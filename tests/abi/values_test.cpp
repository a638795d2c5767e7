#include "abi/values.hpp"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune::c {
namespace {

using ::testing::HasSubstr;

ovt_answer empty_answer() {
  ovt_answer answer{};
  answer.size = sizeof answer;
  return answer;
}

/// What the refusal says; empty where there is none.
std::string refusal(const ovt_answer& answer) {
  try {
    (void)config_of(&answer);
    return "";
  } catch (const Refusal& refused) {
    EXPECT_EQ(refused.status, OVT_ERROR_ARGUMENT);
    return refused.message;
  }
}

TEST(ValuesTest, AConfigComesBackFromAnAnswerAsItWas) {
  const Config configs[] = {
      {},
      {.strategy = Strategy::sequential, .comm_ctas = 8, .transport = Transport::symmetric},
      {.strategy = Strategy::chunked, .comm_ctas = 16, .chunks = 7},
      {.strategy = Strategy::signaled,
       .tile = {128, 256, 64, 4, 2},
       .raster = 8,
       .comm_ctas = 24,
       .wave_groups = {64, 128, std::int64_t{1} << 40},
       .transport = Transport::symmetric_then_ring,
       .wait = Wait::kernel},
      {.strategy = Strategy::signaled,
       .tile = {64, 64, 32, 1, 1},
       .raster = 1,
       .comm_ctas = 1,
       .wave_groups = std::vector<std::int64_t>(OVT_MAX_WAVE_GROUPS, 3),
       .transport = Transport::copy_engine}};
  for (const Config& config : configs) {
    ovt_answer answer = empty_answer();
    write(config, &answer);
    EXPECT_EQ(config_of(&answer), config) << to_string(config);
    ovt_answer again = empty_answer();
    write(config_of(&answer), &again);
    EXPECT_EQ(std::memcmp(&answer, &again, sizeof answer), 0) << to_string(config);
  }
}

TEST(ValuesTest, FieldsThatNoConfigHasAreRefusedByName) {
  ovt_answer good = empty_answer();
  write({.strategy = Strategy::signaled,
         .tile = {128, 256, 64, 4, 2},
         .raster = 8,
         .comm_ctas = 24,
         .wave_groups = {64, 128}},
        &good);
  ASSERT_EQ(refusal(good), "");
  using Spoil = std::function<void(ovt_answer&)>;
  const std::pair<const char*, Spoil> cases[] = {
      {"ovt_answer.strategy = 5", [](auto& answer) { answer.strategy = 5; }},
      {"ovt_answer.strategy = -1", [](auto& answer) { answer.strategy = -1; }},
      {"ovt_answer.transport = 5", [](auto& answer) { answer.transport = 5; }},
      {"ovt_answer.wait = 2", [](auto& answer) { answer.wait = 2; }},
      {"wait = kernel: expected driver with signaled by copy_engine",
       [](auto& answer) {
         answer.transport = OVT_TRANSPORT_COPY_ENGINE;
         answer.wait = OVT_WAIT_KERNEL;
       }},
      {"ovt_answer.reserved", [](auto& answer) { answer.reserved = 1; }},
      {"tile", [](auto& answer) { answer.block_m = -128; }},
      {"tile", [](auto& answer) { answer.block_n = 0; }},
      {"tile", [](auto& answer) { answer.block_k = INT32_MAX; }},
      {"tile", [](auto& answer) { answer.block_m = 0; }},  // the library's has no groups
      {"stages", [](auto& answer) { answer.stages = 0; }},
      {"stages", [](auto& answer) { answer.stages = INT32_MIN; }},
      {"cluster", [](auto& answer) { answer.cluster = 3; }},
      {"raster", [](auto& answer) { answer.raster = -1; }},
      {"ctas", [](auto& answer) { answer.comm_ctas = -1; }},
      {"ctas",
       [](auto& answer) {
         answer.transport = OVT_TRANSPORT_PEER_ACCESS;
         answer.comm_ctas = 0;
       }},
      {"chunks", [](auto& answer) { answer.chunks = 0; }},
      {"chunks", [](auto& answer) { answer.chunks = 2; }},
      {"wave_group_count = -1", [](auto& answer) { answer.wave_group_count = -1; }},
      {"wave_group_count = 193", [](auto& answer) { answer.wave_group_count = 193; }},
      {"groups", [](auto& answer) { answer.wave_group_count = 0; }},
      {"groups", [](auto& answer) { answer.wave_groups[0] = 0; }},
      {"groups", [](auto& answer) { answer.wave_groups[1] = INT64_MAX; }},
      {"groups",
       [](auto& answer) {
         answer.strategy = OVT_CHUNKED;
         answer.chunks = 2;
       }},
      {"ovt_answer.size = 8", [](auto& answer) { answer.size = 8; }}};
  for (const auto& [text, spoil] : cases) {
    ovt_answer bad = good;
    spoil(bad);
    EXPECT_THAT(refusal(bad), HasSubstr(text));
  }
}

/// Whose header has no `wait`: what lies there is not theirs.
TEST(ValuesTest, CallersOfTheFirstVersionHaveTheDriverWait) {
  constexpr std::size_t kFirst = 2128;
  const Config config{.strategy = Strategy::signaled,
                      .tile = {128, 256, 64, 4, 2},
                      .raster = 8,
                      .comm_ctas = 24,
                      .wave_groups = {64, 128},
                      .wait = Wait::kernel};
  ovt_answer answer = empty_answer();
  answer.size = kFirst;
  answer.wait = 77;
  answer.reserved = 78;
  write(config, &answer);
  EXPECT_EQ(answer.wait, 77);
  EXPECT_EQ(answer.reserved, 78);
  Config by_driver = config;
  by_driver.wait = Wait::driver;
  EXPECT_EQ(config_of(&answer), by_driver);
  for (const std::size_t size : {kFirst - 8, kFirst - 1, kFirst + 1, kFirst + 4}) {
    answer.size = size;
    EXPECT_THAT(refusal(answer), HasSubstr("ovt_answer.size = ")) << size;
  }
}

TEST(ValuesTest, ATileThatTheLibraryChoosesHasNoOtherSides) {
  ovt_answer answer = empty_answer();
  write(Config{}, &answer);
  answer.block_n = 128;
  EXPECT_THAT(refusal(answer), HasSubstr("fields that sequential does not use"));
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
                          .transport = "nvlink",
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
