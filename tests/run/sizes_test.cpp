#include <array>

#include <gtest/gtest.h>

#include "tests/run/asked.hpp"

namespace overlaptune {
namespace {

constexpr std::int64_t kMi = 1 << 20;

struct Expected {
  ovt_op op;
  std::string config;
  std::int64_t a, b, c, shared, temporary;  // MiB
};

// Sizes counted by hand: 4096 x 512 elements are 4 MiB, 1024 x 512 are 1, 4096 x 1024 are 8. The
// workspace is as large as the whole buffer of the collective; it is 0 for an all_reduce of whole
// products by NCCL, which works in place. all_to_all needs as much again where NCCL moves the
// groups of `signaled`, which are received in the workspace. The exchanged operand lies in the
// world's memory with every transport except the ring, and with all_to_all; then it needs no
// temporary memory. With peer access it lies there only where ranks load the rows of A from one
// another. Copy engines send A from where it is.
TEST(SizesTest, AreThoseCountedByHand) {
  const auto library = [](const char* strategy, const char* transport = "ring") {
    return library_config(strategy, transport);
  };
  const Expected cases[] = {
      {OVT_GEMM_ALL_REDUCE, library("sequential"), 4, 1, 8, 0, 13},
      {OVT_GEMM_ALL_REDUCE, library("sequential", "symmetric"), 4, 1, 8, 8, 5},
      {OVT_GEMM_ALL_REDUCE, library("chunked"), 4, 1, 8, 0, 13},
      {OVT_GEMM_ALL_REDUCE, signaled_config("ring"), 4, 1, 8, 8, 13},
      {OVT_GEMM_ALL_REDUCE, signaled_config("symmetric"), 4, 1, 8, 16, 5},
      {OVT_GEMM_ALL_REDUCE, signaled_config("symmetric_then_ring"), 4, 1, 8, 16, 5},
      {OVT_GEMM_ALL_REDUCE, signaled_config("peer_access"), 4, 1, 8, 8, 13},
      {OVT_GEMM_ALL_REDUCE, "sequential ctas=8 transport=peer_access", 4, 1, 8, 8, 13},
      {OVT_GEMM_REDUCE_SCATTER, library("sequential"), 4, 1, 2, 8, 7},
      {OVT_GEMM_REDUCE_SCATTER, library("chunked", "symmetric"), 4, 1, 2, 10, 5},
      {OVT_GEMM_REDUCE_SCATTER, signaled_config("ring"), 4, 1, 2, 8, 7},
      {OVT_GEMM_REDUCE_SCATTER, signaled_config("symmetric"), 4, 1, 2, 10, 5},
      {OVT_GEMM_REDUCE_SCATTER, signaled_config("symmetric_then_ring"), 4, 1, 2, 10, 5},
      {OVT_GEMM_REDUCE_SCATTER, signaled_config("peer_access"), 4, 1, 2, 8, 7},
      {OVT_ALL_GATHER_GEMM, library("sequential"), 1, 1, 8, 4, 10},
      {OVT_ALL_GATHER_GEMM, library("sequential", "symmetric"), 1, 1, 8, 5, 9},
      {OVT_ALL_GATHER_GEMM, library("chunked", "symmetric"), 1, 1, 8, 5, 9},
      {OVT_GEMM_ALL_TO_ALL, library("sequential"), 4, 1, 8, 16, 5},
      {OVT_GEMM_ALL_TO_ALL, library("chunked"), 4, 1, 8, 16, 5},
      {OVT_GEMM_ALL_TO_ALL, signaled_config("ring"), 4, 1, 8, 24, 5},
      {OVT_GEMM_ALL_TO_ALL, signaled_config("copy_engine"), 4, 1, 8, 16, 5},
      {OVT_GEMM_ALL_TO_ALL, signaled_config("peer_access"), 4, 1, 8, 8, 13},
      {OVT_ALL_TO_ALL_GEMM, library("sequential"), 4, 1, 8, 8, 9},
      {OVT_ALL_TO_ALL_GEMM, library("sequential", "copy_engine"), 4, 1, 8, 4, 13},
      {OVT_ALL_TO_ALL_GEMM, "sequential ctas=8 transport=peer_access", 4, 1, 8, 8, 9},
      {OVT_ALL_TO_ALL_GEMM, library("chunked"), 4, 1, 8, 8, 9}};
  for (const Expected& expected : cases) {
    const ovt_problem problem = asked_problem(expected.op);
    ovt_sizes sizes{};
    sizes.size = sizeof sizes;
    const auto name = testing::Message() << "op " << expected.op << ", " << expected.config;
    ASSERT_EQ(ovt_plan_sizes(&problem, expected.config.c_str(), &sizes), OVT_OK)
        << name << ": " << ovt_run_last_error();
    EXPECT_EQ(sizes.a_bytes, expected.a * kMi) << name;
    EXPECT_EQ(sizes.b_bytes, expected.b * kMi) << name;
    EXPECT_EQ(sizes.c_bytes, expected.c * kMi) << name;
    EXPECT_EQ(sizes.shared_bytes, expected.shared * kMi) << name;
    EXPECT_EQ(sizes.temporary_bytes, expected.temporary * kMi) << name;
  }
}

TEST(SizesTest, WhatNoGpuHoldsIsRefused) {
  for (const ovt_op op : {OVT_GEMM_ALL_REDUCE, OVT_GEMM_REDUCE_SCATTER, OVT_GEMM_ALL_TO_ALL}) {
    ovt_problem problem = asked_problem(op);
    problem.m = problem.n = 2147483640;
    problem.k = 8;
    problem.ranks = 2;
    ovt_sizes sizes{};
    sizes.size = sizeof sizes;
    EXPECT_EQ(ovt_plan_sizes(&problem, "sequential", &sizes), OVT_ERROR_ARGUMENT);
    EXPECT_NE(std::string(ovt_run_last_error()).find("more memory"), std::string::npos);
    EXPECT_EQ(sizes.shared_bytes, 0);
  }
}

TEST(SizesTest, PartsOfTheSharedMemoryBeginAtPages) {
  ovt_problem problem = asked_problem(OVT_GEMM_REDUCE_SCATTER);
  problem.m = 4;
  problem.n = 8;
  problem.k = 16;
  ovt_sizes sizes{};
  sizes.size = sizeof sizes;
  ASSERT_EQ(ovt_plan_sizes(&problem, "sequential transport=symmetric", &sizes), OVT_OK)
      << ovt_run_last_error();
  EXPECT_EQ(sizes.a_bytes, 128);
  EXPECT_EQ(sizes.b_bytes, 256);
  EXPECT_EQ(sizes.c_bytes, 16);
  EXPECT_EQ(sizes.shared_bytes, 2 * 4096);
  EXPECT_EQ(sizes.temporary_bytes, 128 + 256);
}

}  // namespace
}  // namespace overlaptune
