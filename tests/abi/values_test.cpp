#include "abi/values.hpp"

#include <functional>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/core/config_cases.hpp"

namespace overlaptune::c {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

ovt_answer empty_answer() {
  ovt_answer answer{};
  answer.size = sizeof answer;
  return answer;
}

/// The message of the refusal; empty where there is none.
std::string refusal(const ovt_answer& answer) {
  try {
    (void)config_of(&answer);
    return "";
  } catch (const Refusal& refused) {
    EXPECT_EQ(refused.status, OVT_ERROR_ARGUMENT);
    return refused.message;
  }
}

/// A config of `signaled` with every field away from its default.
const Signaled kSignaled{.tile = {128, 256, 64, 4, 2},
                         .raster = 8,
                         .comm_ctas = 24,
                         .transport = kSymmetricThenRing,
                         .wait = Wait::kernel,
                         .wave_groups = {64, 128}};

TEST(ValuesTest, AConfigComesBackFromAnAnswerAsItWas) {
  Signaled largest{.tile = {64, 64, 32, 1, 1},
                   .raster = 1,
                   .comm_ctas = 1,
                   .transport = all_groups_by(Transport::copy_engine)};
  largest.wave_groups.assign(OVT_MAX_WAVE_GROUPS, 3);
  Signaled handed_over = kSignaled;
  handed_over.comm_ctas = kHandedOver;
  handed_over.wave_groups = {64, std::int64_t{1} << 40};
  const Config configs[] = {
      Config{},
      Sequential{.comm_ctas = 8, .transport = Transport::symmetric},
      Chunked{.comm_ctas = 16, .chunks = 7},
      kSignaled,
      handed_over,
      largest,
      PeerStore{
          .tile = {128, 192, 64, 5, 2}, .raster = 4, .wave_groups = {64, std::int64_t{1} << 40}}};
  for (const Config& config : configs) {
    ovt_answer answer = empty_answer();
    write(config, &answer);
    EXPECT_EQ(config_of(&answer), config) << to_string(config);
    ovt_answer again = empty_answer();
    write(config_of(&answer), &again);
    EXPECT_EQ(std::memcmp(&answer, &again, sizeof answer), 0) << to_string(config);
  }
}

TEST(ValuesTest, AnAnswerHasEveryFieldOfAConfig) {
  ovt_answer answer = empty_answer();
  write(kSignaled, &answer);
  EXPECT_EQ(answer.strategy, OVT_SIGNALED);
  EXPECT_EQ(answer.block_m, 128);
  EXPECT_EQ(answer.block_n, 256);
  EXPECT_EQ(answer.block_k, 64);
  EXPECT_EQ(answer.stages, 4);
  EXPECT_EQ(answer.cluster, 2);
  EXPECT_EQ(answer.raster, 8);
  EXPECT_EQ(answer.comm_ctas, 24);
  EXPECT_EQ(answer.chunks, 1);
  EXPECT_EQ(answer.transport, OVT_TRANSPORT_SYMMETRIC_THEN_RING);
  EXPECT_EQ(answer.wait, OVT_WAIT_KERNEL);
  ASSERT_EQ(answer.wave_group_count, 2);
  EXPECT_EQ(answer.wave_groups[0], 64);
  EXPECT_EQ(answer.wave_groups[1], 128);
  // The second config is written over the first, of which nothing may stay.
  write(Chunked{.comm_ctas = 16, .chunks = 7, .transport = Transport::symmetric}, &answer);
  EXPECT_EQ(answer.strategy, OVT_CHUNKED);
  for (const auto field : {answer.block_m, answer.block_n, answer.block_k, answer.stages,
                           answer.cluster, answer.raster, answer.wave_group_count}) {
    EXPECT_EQ(field, 0);
  }
  EXPECT_EQ(answer.comm_ctas, 16);
  EXPECT_EQ(answer.chunks, 7);
  EXPECT_EQ(answer.transport, OVT_TRANSPORT_SYMMETRIC);
  EXPECT_EQ(answer.wait, OVT_WAIT_DRIVER);
}

TEST(ValuesTest, TheTransportsOfWaveGroupsHaveTheNumbersOfTheHeader) {
  const std::pair<GroupTransports, ovt_transport> numbers[] = {
      {all_groups_by(Transport::ring), OVT_TRANSPORT_RING},
      {all_groups_by(Transport::symmetric), OVT_TRANSPORT_SYMMETRIC},
      {all_groups_by(Transport::copy_engine), OVT_TRANSPORT_COPY_ENGINE},
      {{Transport::symmetric, Transport::ring}, OVT_TRANSPORT_SYMMETRIC_THEN_RING},
      {all_groups_by(Transport::peer_access), OVT_TRANSPORT_PEER_ACCESS}};
  for (const auto& [transport, number] : numbers) {
    Signaled config = kSignaled;
    config.transport = transport;
    config.wait = Wait::driver;
    ovt_answer answer = empty_answer();
    write(config, &answer);
    EXPECT_EQ(answer.transport, number);
    EXPECT_EQ(std::get<Signaled>(config_of(&answer)).transport, transport);
  }
}

TEST(ValuesTest, WhatIsLegalIsTakenAndNothingElse) {
  int taken = 0;
  int refused = 0;
  for (const auto& [config, is_legal] : cases::alone()) {
    if (wave_groups_of(config).size() > OVT_MAX_WAVE_GROUPS) continue;
    ovt_answer answer = empty_answer();
    write(config, &answer);
    const std::string said = refusal(answer);
    ASSERT_EQ(said.empty(), is_legal) << to_string(config) << ": " << said;
    ++(is_legal ? taken : refused);
    if (is_legal) {
      ASSERT_EQ(config_of(&answer), config);
    } else {
      ASSERT_EQ(said.find("ovt_answer"), 0U) << said;
    }
  }
  EXPECT_GT(taken, 100);
  EXPECT_GT(refused, 100);
}

TEST(ValuesTest, FieldsThatNoConfigHasAreRefusedByName) {
  Signaled config = kSignaled;
  config.transport = all_groups_by(Transport::ring);
  config.wait = Wait::driver;
  ovt_answer good = empty_answer();
  write(config, &good);
  ASSERT_EQ(refusal(good), "");
  using Spoil = std::function<void(ovt_answer&)>;
  const std::pair<const char*, Spoil> cases[] = {
      {"ovt_answer.strategy = 6", [](auto& answer) { answer.strategy = 6; }},
      // The number of a strategy that no library ever ran.
      {"ovt_answer.strategy = 4", [](auto& answer) { answer.strategy = OVT_COPY_ENGINE; }},
      {"ovt_answer.strategy = -1", [](auto& answer) { answer.strategy = -1; }},
      {"ovt_answer.transport = 5", [](auto& answer) { answer.transport = 5; }},
      {"ovt_answer.transport = -1", [](auto& answer) { answer.transport = -1; }},
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
      {"tile", [](auto& answer) { answer.block_m = 0; }},  // a library GEMM cannot signal
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
      {"ovt_answer.chunks: signaled does not use it; expected 1",
       [](auto& answer) { answer.chunks = 0; }},
      {"ovt_answer.chunks: signaled does not use it; expected 1",
       [](auto& answer) { answer.chunks = 2; }},
      {"wave_group_count = -1", [](auto& answer) { answer.wave_group_count = -1; }},
      {"wave_group_count = 193", [](auto& answer) { answer.wave_group_count = 193; }},
      {"groups", [](auto& answer) { answer.wave_group_count = 0; }},
      {"groups", [](auto& answer) { answer.wave_groups[0] = 0; }},
      {"groups", [](auto& answer) { answer.wave_groups[1] = INT64_MAX; }},
      {"ovt_answer.tile: chunked does not use it; expected 0",
       [](auto& answer) { answer.strategy = OVT_CHUNKED; }},
      {"ovt_answer.size = 8", [](auto& answer) { answer.size = 8; }}};
  for (const auto& [text, spoil] : cases) {
    ovt_answer bad = good;
    spoil(bad);
    EXPECT_THAT(refusal(bad), HasSubstr(text));
  }
}

TEST(ValuesTest, FieldsThatAStrategyDoesNotUseAreRefusedByName) {
  using Spoil = std::function<void(ovt_answer&)>;
  const std::pair<const char*, Spoil> of_signaled[] = {
      {"ovt_answer.tile:", [](auto& answer) { answer.block_m = 128; }},
      {"ovt_answer.tile:", [](auto& answer) { answer.block_n = 128; }},
      {"ovt_answer.tile:", [](auto& answer) { answer.block_k = -1; }},
      {"ovt_answer.stages:", [](auto& answer) { answer.stages = 4; }},
      {"ovt_answer.cluster:", [](auto& answer) { answer.cluster = 1; }},
      {"ovt_answer.raster:", [](auto& answer) { answer.raster = 1; }},
      {"ovt_answer.wave_groups:",
       [](auto& answer) {
         answer.wave_group_count = 1;
         answer.wave_groups[0] = 64;
       }},
      {"ovt_answer.wait:", [](auto& answer) { answer.wait = OVT_WAIT_KERNEL; }},
      {"ovt_answer.wait:", [](auto& answer) { answer.wait = 77; }}};
  for (const Config& config : {Config(Sequential{}), Config(Chunked{.comm_ctas = 8})}) {
    ovt_answer good = empty_answer();
    write(config, &good);
    ASSERT_EQ(refusal(good), "");
    for (const auto& [text, spoil] : of_signaled) {
      ovt_answer bad = good;
      spoil(bad);
      EXPECT_THAT(refusal(bad), StartsWith(text));
      EXPECT_THAT(refusal(bad), HasSubstr(fmt::format("{} does not use it; expected 0",
                                                      to_string(strategy_of(config)))));
    }
    // Elements after the last group may have any value.
    good.wave_groups[0] = 64;
    EXPECT_EQ(refusal(good), "");
    ovt_answer then_ring = good;
    then_ring.transport = OVT_TRANSPORT_SYMMETRIC_THEN_RING;
    EXPECT_THAT(refusal(then_ring), StartsWith("ovt_answer.transport = 3 (symmetric_then_ring)"));
    ovt_answer by_copies = good;
    by_copies.transport = OVT_TRANSPORT_COPY_ENGINE;
    const bool has_copies = std::holds_alternative<Sequential>(config);
    EXPECT_EQ(refusal(by_copies).empty(), has_copies);
  }
  ovt_answer sequential = empty_answer();
  write(Config{}, &sequential);
  for (const std::int32_t chunks : {0, 2, -1}) {
    sequential.chunks = chunks;
    EXPECT_EQ(refusal(sequential), "ovt_answer.chunks: sequential does not use it; expected 1");
  }
}

/// The header of these callers has no `wait`: the memory at its place is not part of their struct.
TEST(ValuesTest, CallersOfTheFirstVersionHaveTheDriverWait) {
  constexpr std::size_t kFirst = 2128;
  ovt_answer answer = empty_answer();
  answer.size = kFirst;
  answer.wait = 77;
  answer.reserved = 78;
  write(kSignaled, &answer);
  EXPECT_EQ(answer.wait, 77);
  EXPECT_EQ(answer.reserved, 78);
  Signaled by_driver = kSignaled;
  by_driver.wait = Wait::driver;
  EXPECT_EQ(config_of(&answer), Config(by_driver));
  for (const Config& config :
       {Config(Sequential{.comm_ctas = 4}), Config(Chunked{.comm_ctas = 8, .chunks = 3})}) {
    write(config, &answer);
    EXPECT_EQ(answer.wait, 77);
    EXPECT_EQ(answer.reserved, 78);
    EXPECT_EQ(config_of(&answer), config);
  }
  for (const std::size_t size : {kFirst - 8, kFirst - 1, kFirst + 1, kFirst + 4}) {
    answer.size = size;
    EXPECT_THAT(refusal(answer), HasSubstr("ovt_answer.size = ")) << size;
  }
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

TEST(ValuesTest, NamesOfNumbersEndWithANul) {
  EXPECT_STREQ(strategy_name(OVT_SEQUENTIAL), "sequential");
  EXPECT_STREQ(strategy_name(OVT_PEER_STORE), "peer_store");
  EXPECT_STREQ(strategy_name(OVT_WAITING), "waiting");
  EXPECT_EQ(strategy_name(OVT_COPY_ENGINE), nullptr);  // reserved
  EXPECT_EQ(strategy_name(-1), nullptr);
  EXPECT_STREQ(transport_name(OVT_TRANSPORT_RING), "ring");
  EXPECT_STREQ(transport_name(OVT_TRANSPORT_SYMMETRIC_THEN_RING), "symmetric_then_ring");
  EXPECT_STREQ(transport_name(OVT_TRANSPORT_PEER_ACCESS), "peer_access");
  EXPECT_EQ(transport_name(OVT_TRANSPORT_PEER_ACCESS + 1), nullptr);
}

}  // namespace
}  // namespace overlaptune::c
