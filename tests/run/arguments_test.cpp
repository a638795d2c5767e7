// Any arguments, right or wrong, give a status and a text.

#include <cstring>
#include <functional>

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
  ovt_answer answer = signaled_answer(OVT_TRANSPORT_RING);
  ovt_sizes sizes{};
  sizes.size = sizeof sizes;
  spoil(problem, answer, sizes);
  const ovt_sizes before = sizes;
  const ovt_status status = ovt_plan_sizes(&problem, &answer, &sizes);
  if (status == OVT_OK) return "";
  EXPECT_EQ(status, OVT_ERROR_ARGUMENT);
  EXPECT_EQ(std::memcmp(&before, &sizes, sizeof sizes), 0);
  return ovt_run_last_error();
}

TEST(RunArgumentsTest, NullsAreRefusedByName) {
  const ovt_problem problem = asked_problem(OVT_GEMM_ALL_REDUCE);
  const ovt_answer answer = library_answer(OVT_SEQUENTIAL, OVT_TRANSPORT_RING);
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
  refused(ovt_plan_sizes(nullptr, &answer, &sizes), "ovt_problem: NULL");
  refused(ovt_plan_sizes(&problem, nullptr, &sizes), "ovt_answer: NULL");
  refused(ovt_plan_sizes(&problem, &answer, nullptr), "ovt_sizes: NULL");
  refused(ovt_plan_create(nullptr, &problem, &answer, &plan), "world: NULL");
  refused(ovt_plan_create(nullptr, &problem, &answer, nullptr), "world: NULL");
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
  options = {.size = sizeof options,
             .allow_multicast = 1,
             .exclusive = 1,
             .free_sms = 8,
             .time_limit_ms = 1000};
  refused(options, "comm: NULL");
}

TEST(RunArgumentsTest, UnalignedPointersAreRefused) {
  alignas(16) char room[sizeof(ovt_answer) + 16] = {};
  const ovt_problem problem = asked_problem(OVT_GEMM_ALL_REDUCE);
  const ovt_answer answer = library_answer(OVT_SEQUENTIAL, OVT_TRANSPORT_RING);
  void* const odd = room + 1;
  EXPECT_EQ(ovt_plan_sizes(&problem, &answer, static_cast<ovt_sizes*>(odd)), OVT_ERROR_ARGUMENT);
  EXPECT_THAT(ovt_run_last_error(), HasSubstr("ovt_sizes: expected a pointer aligned to 8"));
  ovt_sizes sizes{};
  sizes.size = sizeof sizes;
  EXPECT_EQ(ovt_plan_sizes(static_cast<ovt_problem*>(odd), &answer, &sizes), OVT_ERROR_ARGUMENT);
  EXPECT_EQ(ovt_plan_sizes(&problem, static_cast<ovt_answer*>(odd), &sizes), OVT_ERROR_ARGUMENT);
  EXPECT_EQ(ovt_world_reserve(static_cast<ovt_world*>(odd), 1), OVT_ERROR_ARGUMENT);
  EXPECT_EQ(ovt_plan_run(static_cast<ovt_plan*>(odd), room, room, room, nullptr),
            OVT_ERROR_ARGUMENT);
}

TEST(RunArgumentsTest, SizesThatNoVersionHasAreRefused) {
  EXPECT_THAT(said([](auto& problem, auto&, auto&) { problem.size = 8; }),
              HasSubstr("ovt_problem.size = 8"));
  EXPECT_THAT(said([](auto&, auto& answer, auto&) { answer.size -= 1; }),
              HasSubstr("ovt_answer.size"));
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
  const ovt_answer answer = library_answer(OVT_SEQUENTIAL, OVT_TRANSPORT_RING);
  ASSERT_EQ(ovt_plan_sizes(&problem, &answer, &given.sizes), OVT_OK);
  EXPECT_EQ(given.later, 0);
  EXPECT_EQ(given.sizes.size, sizeof given);
}

TEST(RunArgumentsTest, UnknownValuesAreRefusedByName) {
  ASSERT_EQ(said([](auto&, auto&, auto&) {}), "");
  EXPECT_THAT(said([](auto& problem, auto&, auto&) { problem.op = 4; }),
              HasSubstr("ovt_problem.op = 4"));
  EXPECT_THAT(said([](auto& problem, auto&, auto&) { problem.dtype = -1; }),
              HasSubstr("ovt_problem.dtype = -1"));
  EXPECT_THAT(said([](auto&, auto& answer, auto&) { answer.strategy = 9; }),
              HasSubstr("ovt_answer.strategy = 9"));
  EXPECT_THAT(said([](auto&, auto& answer, auto&) { answer.transport = 9; }),
              HasSubstr("ovt_answer.transport = 9"));
  EXPECT_THAT(said([](auto& problem, auto&, auto&) { problem.m = 4097; }), HasSubstr("m = 4097"));
}

TEST(RunArgumentsTest, WaveGroupsMustMakeUpTheProblem) {
  EXPECT_THAT(said([](auto&, auto& answer, auto&) { answer.wave_groups[1] = 128; }),
              HasSubstr("192 tiles in all, expected 256"));
  EXPECT_THAT(said([](auto&, auto& answer, auto&) { answer.wave_groups[1] = 193; }),
              HasSubstr("group 1 of 193 tiles"));
  EXPECT_THAT(said([](auto&, auto& answer, auto&) { answer.wave_groups[0] = 63; }),
              HasSubstr("within a column"));
  EXPECT_THAT(said([](auto&, auto& answer, auto&) { answer.wave_groups[1] = INT64_MAX; }),
              HasSubstr("groups"));
  // Whole columns, but not whole swizzle groups.
  const auto cut = [](auto&, auto& answer, auto&) {
    answer.wave_groups[0] = 72;
    answer.wave_groups[1] = 184;
  };
  EXPECT_EQ(said(cut), "");
  EXPECT_THAT(said(
                  [&](auto& problem, auto& answer, auto& sizes) {
                    cut(problem, answer, sizes);
                    answer.transport = OVT_TRANSPORT_COPY_ENGINE;
                  },
                  OVT_GEMM_ALL_TO_ALL),
              HasSubstr("whole swizzle groups"));
}

TEST(RunArgumentsTest, WhatNoPlanIsMadeOfIsRefused) {
  const auto instead = [](const ovt_answer& other) {
    return [other](auto&, auto& answer, auto&) { answer = other; };
  };
  EXPECT_THAT(said([](auto&, auto&, auto&) {}, OVT_ALL_GATHER_GEMM),
              HasSubstr("strategy signaled: cannot run all_gather_gemm"));
  EXPECT_THAT(said(instead(signaled_answer(OVT_TRANSPORT_SYMMETRIC)), OVT_GEMM_ALL_TO_ALL),
              HasSubstr("transport symmetric: does not carry all_to_all"));
  EXPECT_THAT(said(instead(library_answer(OVT_SEQUENTIAL, OVT_TRANSPORT_PEER_ACCESS))),
              HasSubstr("ctas = 0: expected 1 or more by peer_access"));
  EXPECT_THAT(said(instead(library_answer(OVT_COPY_ENGINE, OVT_TRANSPORT_RING))),
              HasSubstr("ovt_answer.strategy = 4"));
  EXPECT_THAT(said(instead(library_answer(OVT_PEER_STORE, OVT_TRANSPORT_RING))),
              HasSubstr("tile: expected sides of 1 to 65536"));
  ovt_answer stored = signaled_answer(OVT_TRANSPORT_RING);
  stored.strategy = OVT_PEER_STORE;
  EXPECT_THAT(said(instead(stored)), HasSubstr("comm_ctas: peer_store does not use it"));
  stored.comm_ctas = 0;
  EXPECT_EQ(said(instead(stored)), "");
  ovt_answer waiting = signaled_answer(OVT_TRANSPORT_PEER_ACCESS);
  waiting.wait = OVT_WAIT_KERNEL;
  EXPECT_EQ(said(instead(waiting)), "");
  waiting.transport = OVT_TRANSPORT_COPY_ENGINE;
  EXPECT_THAT(said(instead(waiting), OVT_GEMM_ALL_TO_ALL), HasSubstr("wait = kernel"));
  ovt_answer many = library_answer(OVT_CHUNKED, OVT_TRANSPORT_RING);
  many.chunks = 1025;
  EXPECT_THAT(said(instead(many)), HasSubstr("chunks = 1025"));
  ovt_answer tiled = library_answer(OVT_CHUNKED, OVT_TRANSPORT_RING);
  const ovt_answer ours = signaled_answer(OVT_TRANSPORT_RING);
  tiled.block_m = ours.block_m;
  tiled.block_n = ours.block_n;
  tiled.block_k = ours.block_k;
  tiled.stages = ours.stages;
  tiled.cluster = ours.cluster;
  tiled.raster = ours.raster;
  EXPECT_THAT(said(instead(tiled)), HasSubstr("ovt_answer.tile: chunked does not use it"));
}

}  // namespace
}  // namespace overlaptune
