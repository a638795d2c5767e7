// Any arguments, right or wrong, give a status and a text.

#include <cstring>
#include <sstream>
#include <string>
#include <utility>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/run/asked.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

/// The error of ovt_plan_sizes after `spoil`; empty where it succeeds. An error leaves the output
/// as it was.
template <class Spoil>
std::string said(const Spoil& spoil, ovt_op op = OVT_GEMM_REDUCE_SCATTER) {
  ovt_problem problem = asked_problem(op);
  std::string config = signaled_config("ring");
  ovt_sizes sizes{};
  sizes.size = sizeof sizes;
  spoil(problem, config, sizes);
  const ovt_sizes before = sizes;
  const ovt_status status = ovt_plan_sizes(&problem, config.c_str(), &sizes);
  if (status == OVT_OK) return "";
  EXPECT_EQ(status, OVT_ERROR_ARGUMENT);
  EXPECT_EQ(std::memcmp(&before, &sizes, sizeof sizes), 0);
  return ovt_run_last_error();
}

TEST(RunArgumentsTest, NullsAreRefusedByName) {
  const ovt_problem problem = asked_problem(OVT_GEMM_ALL_REDUCE);
  const char* const config = "sequential";
  ovt_sizes sizes{};
  sizes.size = sizeof sizes;
  ovt_platform platform{};
  platform.size = sizeof platform;
  ovt_buffers buffers{};
  buffers.size = sizeof buffers;
  ovt_world* world = nullptr;
  ovt_plan* plan = nullptr;
  alignas(256) char memory[256];
  const auto refused = [](ovt_status status, const char* text) {
    EXPECT_EQ(status, OVT_ERROR_ARGUMENT) << text;
    EXPECT_THAT(ovt_run_last_error(), HasSubstr(text));
  };
  refused(ovt_world_create(nullptr, nullptr, nullptr), "world: NULL");
  refused(ovt_world_create(nullptr, nullptr, &world), "comm: NULL");
  refused(ovt_world_reserve(nullptr, 1), "world: NULL");
  refused(ovt_world_abort(nullptr), "world: NULL");
  refused(ovt_world_check(nullptr), "world: NULL");
  refused(ovt_platform_detect(nullptr, &platform), "world: NULL");
  refused(ovt_platform_detect(nullptr, nullptr), "ovt_platform: NULL");
  refused(ovt_plan_sizes(nullptr, config, &sizes), "ovt_problem: NULL");
  refused(ovt_plan_sizes(&problem, nullptr, &sizes), "config: NULL");
  refused(ovt_plan_sizes(&problem, config, nullptr), "ovt_sizes: NULL");
  refused(ovt_plan_create(nullptr, &problem, config, &plan), "world: NULL");
  refused(ovt_plan_create(nullptr, &problem, config, nullptr), "world: NULL");
  refused(ovt_plan_config(nullptr, "chunked", memory, sizeof memory), "ovt_problem: NULL");
  refused(ovt_plan_config(&problem, nullptr, memory, sizeof memory), "way: NULL");
  refused(ovt_plan_config(&problem, "chunked", nullptr, sizeof memory), "config: NULL");
  refused(ovt_plan_buffers(nullptr, &buffers), "plan: NULL");
  refused(ovt_plan_buffers(nullptr, nullptr), "ovt_buffers: NULL");
  refused(ovt_plan_run(nullptr, memory, memory, memory, nullptr), "plan: NULL");
  EXPECT_EQ(world, nullptr);
  EXPECT_EQ(plan, nullptr);
  EXPECT_EQ(ovt_world_destroy(nullptr), OVT_OK);
  ovt_plan_destroy(nullptr);
}

TEST(RunArgumentsTest, OptionsThatNoVersionHasAreRefused) {
  ovt_world* world = nullptr;
  const auto refused = [&](const ovt_world_options& options, const char* text) {
    EXPECT_EQ(ovt_world_create(nullptr, &options, &world), OVT_ERROR_ARGUMENT) << text;
    EXPECT_THAT(ovt_run_last_error(), HasSubstr(text));
  };
  ovt_world_options options{.size = 4};
  refused(options, "ovt_world_options.size = 4");
  options = {.size = sizeof options, .allow_multicast = 2};
  refused(options, "ovt_world_options.allow_multicast = 2: expected 0 or 1");
  options = {.size = sizeof options, .exclusive = -1};
  refused(options, "ovt_world_options.exclusive = -1: expected 0 or 1");
  options = {.size = sizeof options, .free_sms = -1};
  refused(options, "ovt_world_options.free_sms = -1: expected 0 or more");
  options = {.size = sizeof options, .time_limit_ms = -5};
  refused(options, "ovt_world_options.time_limit_ms = -5: expected 0 or more");
  options = {.size = sizeof options, .result_bytes = -1};
  refused(options, "ovt_world_options.result_bytes = -1: expected 0 or more");
  options = {.size = sizeof options,
             .allow_multicast = 1,
             .exclusive = 1,
             .free_sms = 8,
             .time_limit_ms = 1000,
             .result_bytes = 1};
  refused(options, "comm: NULL");
}

TEST(RunArgumentsTest, ResultsOfNoWorldAreRefused) {
  void* result = nullptr;
  EXPECT_EQ(ovt_result_allocate(nullptr, 16, &result), OVT_ERROR_ARGUMENT);
  EXPECT_THAT(ovt_run_last_error(), HasSubstr("world"));
  EXPECT_EQ(result, nullptr);
  std::uint64_t capture = 0;
  EXPECT_EQ(ovt_pool_begin(nullptr, nullptr, &capture), OVT_ERROR_ARGUMENT);
  EXPECT_EQ(ovt_pool_allocate(512, 0, nullptr), nullptr) << "no world was named";
  int other = 0;
  ovt_result_free(nullptr);
  ovt_result_free(&other);  // of nobody: it stays
  ovt_pool_free(nullptr, 0, 0, nullptr);
}

TEST(RunArgumentsTest, UnalignedPointersAreRefused) {
  alignas(16) char room[sizeof(ovt_problem) + 16] = {};
  const ovt_problem problem = asked_problem(OVT_GEMM_ALL_REDUCE);
  const char* const config = "sequential";
  void* const odd = room + 1;
  EXPECT_EQ(ovt_plan_sizes(&problem, config, static_cast<ovt_sizes*>(odd)), OVT_ERROR_ARGUMENT);
  EXPECT_THAT(ovt_run_last_error(), HasSubstr("ovt_sizes: expected a pointer aligned to 8"));
  ovt_sizes sizes{};
  sizes.size = sizeof sizes;
  EXPECT_EQ(ovt_plan_sizes(static_cast<ovt_problem*>(odd), config, &sizes), OVT_ERROR_ARGUMENT);
  EXPECT_EQ(ovt_world_reserve(static_cast<ovt_world*>(odd), 1), OVT_ERROR_ARGUMENT);
  EXPECT_EQ(ovt_plan_run(static_cast<ovt_plan*>(odd), room, room, room, nullptr),
            OVT_ERROR_ARGUMENT);
}

TEST(RunArgumentsTest, SizesThatNoVersionHasAreRefused) {
  EXPECT_THAT(said([](auto& problem, auto&, auto&) { problem.size = 8; }),
              HasSubstr("ovt_problem.size = 8"));
  EXPECT_THAT(said([](auto&, auto&, auto& sizes) { sizes.size = 0; }),
              HasSubstr("ovt_sizes.size = 0"));
}

TEST(RunArgumentsTest, ACallerWithANewerHeaderIsServed) {
  struct {
    ovt_sizes sizes{};
    std::int64_t later = 77;
  } given;
  given.sizes.size = sizeof given;
  const ovt_problem problem = asked_problem(OVT_GEMM_ALL_REDUCE);
  const char* const config = "sequential";
  ASSERT_EQ(ovt_plan_sizes(&problem, config, &given.sizes), OVT_OK);
  EXPECT_EQ(given.later, 0);
  EXPECT_EQ(given.sizes.size, sizeof given);
}

TEST(RunArgumentsTest, UnknownValuesAreRefusedByName) {
  ASSERT_EQ(said([](auto&, auto&, auto&) {}), "");
  EXPECT_THAT(said([](auto& problem, auto&, auto&) { problem.op = 5; }),
              HasSubstr("ovt_problem.op = 5"));
  EXPECT_THAT(said([](auto& problem, auto&, auto&) { problem.dtype = -1; }),
              HasSubstr("ovt_problem.dtype = -1"));
  EXPECT_THAT(said([](auto& problem, auto&, auto&) { problem.m = 4097; }), HasSubstr("m = 4097"));
}

/// The error for a config.
std::string said_of(const std::string& config, ovt_op op = OVT_GEMM_REDUCE_SCATTER) {
  return said([&](auto&, auto& given, auto&) { given = config; }, op);
}

TEST(RunArgumentsTest, LinesThatAreNoConfigAreRefusedInOneLine) {
  const std::pair<std::string, const char*> cases[] = {
      {"", "config: strategy"},
      {"fast", "config: strategy = 'fast': expected one of sequential, chunked"},
      {"sequential ctas=x", "config: ctas = 'x': expected 0 to 65535"},
      {"sequential transport=9", "config: transport = '9': expected one of ring"},
      {"sequential\x01\x02", "config: strategy = 'sequential"},
      {"sequential chunks=2", "chunks = '2': sequential has none"},
      {"signaled", "config: tile: missing"},
      {std::string(OVT_CONFIG_SIZE, 'x'), "config: 4096 characters: expected at most 4095"}};
  for (const auto& [line, text] : cases) {
    const std::string error = said_of(line);
    EXPECT_THAT(error, HasSubstr(text));
    EXPECT_EQ(error.find('\n'), error.npos);
  }
}

TEST(RunArgumentsTest, ALineMayStandAsPeopleWriteIt) {
  EXPECT_EQ(said_of("transport=symmetric \n sequential"), "");
}

TEST(RunArgumentsTest, WaveGroupsMustMakeUpTheProblem) {
  const auto with = [](const char* groups) { return said_of(signaled_config("ring", groups)); };
  EXPECT_THAT(with("64,128"), HasSubstr("192 tiles in all, expected 256"));
  EXPECT_THAT(with("64,193"), HasSubstr("group 1 of 193 tiles"));
  EXPECT_THAT(with("63,192"), HasSubstr("within a column"));
  EXPECT_THAT(with("64,9223372036854775807"), HasSubstr("groups"));
  // Whole columns, but not whole swizzle groups.
  EXPECT_EQ(with("72,184"), "");
  EXPECT_THAT(said_of(signaled_config("copy_engine", "72,184"), OVT_GEMM_ALL_TO_ALL),
              HasSubstr("whole swizzle groups"));
}

TEST(RunArgumentsTest, WhatNoPlanIsMadeOfIsRefused) {
  EXPECT_THAT(said_of(signaled_config("ring"), OVT_ALL_GATHER_GEMM),
              HasSubstr("strategy signaled: cannot run all_gather_gemm"));
  EXPECT_THAT(said_of(signaled_config("symmetric"), OVT_GEMM_ALL_TO_ALL),
              HasSubstr("transport symmetric: does not carry all_to_all"));
  EXPECT_THAT(said_of("sequential transport=peer_access"),
              HasSubstr("ctas = 0: expected 1 or more by peer_access"));
  const std::string stored = std::string("peer_store") + kAskedTiles + " groups=64,192";
  EXPECT_EQ(said_of(stored), "");
  EXPECT_THAT(said_of(stored + " ctas=8"), HasSubstr("ctas = '8': peer_store has none"));
  EXPECT_EQ(said_of(signaled_config("peer_access") + " wait=kernel"), "");
  EXPECT_THAT(said_of(signaled_config("copy_engine") + " wait=kernel", OVT_GEMM_ALL_TO_ALL),
              HasSubstr("wait = kernel"));
  EXPECT_THAT(said_of("chunked ctas=16 chunks=1025"), HasSubstr("chunks = 1025"));
}

TEST(RunArgumentsTest, EveryWayMakesAConfigThatAPlanTakes) {
  std::istringstream ways(ovt_run_ways());
  int made = 0;
  for (std::string way; std::getline(ways, way, ',');) {
    for (const ovt_op op : {OVT_GEMM_ALL_REDUCE, OVT_GEMM_REDUCE_SCATTER, OVT_ALL_GATHER_GEMM,
                            OVT_GEMM_ALL_TO_ALL, OVT_ALL_TO_ALL_GEMM}) {
      const ovt_problem problem = asked_problem(op);
      char config[OVT_CONFIG_SIZE] = "";
      if (ovt_plan_config(&problem, way.c_str(), config, sizeof config) != OVT_OK) continue;
      EXPECT_EQ(said_of(config, op), "") << config;
      ++made;
    }
  }
  EXPECT_GT(made, 30);
}

TEST(RunArgumentsTest, AWayThatCannotBeIsRefusedAndNothingIsWritten) {
  char config[8] = "before";
  const auto refused = [&](const char* way, ovt_op op, const char* text) {
    const ovt_problem problem = asked_problem(op);
    EXPECT_EQ(ovt_plan_config(&problem, way, config, sizeof config), OVT_ERROR_ARGUMENT) << way;
    EXPECT_THAT(ovt_run_last_error(), HasSubstr(text));
    EXPECT_STREQ(config, "before");
  };
  refused("fast", OVT_GEMM_ALL_REDUCE, "strategy 'fast': expected one of sequential");
  refused("chunked/peer_access", OVT_GEMM_ALL_REDUCE,
          "chunked: no transport 'peer_access': expected one of chunked/ring, chunked/symmetric");
  refused("waiting", OVT_GEMM_ALL_REDUCE, "strategy waiting: cannot run gemm_all_reduce");
  refused("chunked", OVT_GEMM_ALL_REDUCE, "capacity = 8: expected 4096");
}

}  // namespace
}  // namespace overlaptune
