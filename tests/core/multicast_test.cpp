#include "core/multicast.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

Problem problem(Op op) {
  return {op, 1024, 1024, 1024, Elements::bf16, 4};
}

TEST(Multicast, is_for_sums_and_gathers_of_nccl) {
  for (const Op op : {Op::gemm_all_reduce, Op::gemm_reduce_scatter, Op::all_gather_gemm}) {
    EXPECT_TRUE(may_use_multicast(problem(op), Sequential{}));
    EXPECT_TRUE(may_use_multicast(problem(op), Chunked{.transport = Transport::symmetric}));
    EXPECT_FALSE(may_use_multicast(problem(op), Sequential{.transport = Transport::peer_access}));
    EXPECT_FALSE(may_use_multicast(problem(op), Waiting{}));
    EXPECT_FALSE(may_use_multicast(problem(op), PeerStore{}));
  }
  EXPECT_FALSE(may_use_multicast(problem(Op::gemm_all_to_all), Sequential{}));
  EXPECT_FALSE(may_use_multicast(problem(Op::all_to_all_gemm), Sequential{}));
}

TEST(Multicast, counts_for_the_last_wave_group_too) {
  const Problem sums = problem(Op::gemm_all_reduce);
  EXPECT_TRUE(may_use_multicast(sums, Signaled{.transport = kSymmetricThenRing}));
  EXPECT_TRUE(
      may_use_multicast(sums, Signaled{.transport = {Transport::peer_access, Transport::ring}}));
  EXPECT_FALSE(
      may_use_multicast(sums, Signaled{.transport = all_groups_by(Transport::peer_access)}));
}

TEST(Multicast, is_told_in_words) {
  const Problem sums = problem(Op::gemm_all_reduce);
  EXPECT_EQ(multicast_in_words(sums, PeerStore{}, false), "not used: any setting will do");
  EXPECT_NE(multicast_in_words(sums, Sequential{}, false).find("NCCL_NVLS_ENABLE=0"),
            std::string::npos);
  EXPECT_EQ(multicast_in_words(sums, Sequential{}, true).find("NCCL_NVLS_ENABLE"),
            std::string::npos);
}

}  // namespace
}  // namespace overlaptune
