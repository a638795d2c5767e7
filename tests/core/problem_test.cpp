#include "core/problem.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

constexpr Problem kDown{Op::gemm_all_reduce, 4096, 8192, 3584, Elements::bf16, 8};

TEST(Problem, is_read_from_the_form_that_it_prints) {
  EXPECT_EQ(to_string(kDown), "gemm_all_reduce:4096,8192,3584:bf16:8");
  EXPECT_EQ(parse_problem(to_string(kDown)), kDown);
  EXPECT_EQ(parse_problem("gemm_all_reduce:4k,8k,3584:bf16:8"), kDown);
}

struct BadText {
  const char* text;
  const char* named;
};

TEST(Problem, bad_text_is_an_error_that_names_the_field) {
  const BadText cases[] = {
      {"", "OP:M,N,K"},
      {"gemm:1,8,8:bf16:2", "op 'gemm'"},
      {"gemm_all_reduce:1,8:bf16:2", "OP:M,N,K"},
      {"gemm_all_reduce:1,8,8:fp8:2", "dtype 'fp8'"},
      {"gemm_all_reduce:0,8,8:bf16:2", "m = 0"},
      {"gemm_all_reduce:-8,8,8:bf16:2", "m:"},
      {"gemm_all_reduce:x,8,8:bf16:2", "m:"},
      {"gemm_all_reduce:1,12,8:bf16:2", "n = 12"},
      {"gemm_all_reduce:1,8,4:bf16:2", "k = 4"},
      {"gemm_all_reduce:2147483648,8,8:bf16:2", "m = 2147483648"},
      {"gemm_all_reduce:8,4G,8:bf16:2", "n = 4294967296"},
      {"gemm_all_reduce:8,8,8:bf16:1", "ranks = 1"},
      {"gemm_all_reduce:8,8,8:bf16:0", "ranks = 0"},
      {"gemm_all_reduce:8,8,8:bf16:4G", "ranks"},
      {"gemm_reduce_scatter:9,8,8:bf16:2", "m = 9"},
      {"all_gather_gemm:9,8,8:bf16:2", "m = 9"},
      {"gemm_all_to_all:9,8,8:bf16:2", "m = 9"},
      {"all_to_all_gemm:9,8,8:bf16:2", "m = 9"},
  };
  for (const auto& [text, named] : cases) {
    const auto problem = parse_problem(text);
    ASSERT_FALSE(problem) << text;
    EXPECT_EQ(problem.error().kind, ErrorKind::bad_input);
    EXPECT_NE(problem.error().message.find(named), std::string::npos)
        << text << ": " << problem.error().message;
    EXPECT_EQ(problem.error().message.find('\n'), std::string::npos);
  }
}

TEST(Problem, all_reduce_takes_any_number_of_rows) {
  EXPECT_TRUE(validated({Op::gemm_all_reduce, 7, 8, 8, Elements::fp16, 4}));
}

/// Scales of gathered rows travel 16 bytes at a time: four rows of each rank.
TEST(Problem, rows_with_scales_of_their_own_travel_four_at_a_time) {
  for (const Op op : {Op::all_gather_gemm, Op::all_to_all_gemm}) {
    EXPECT_TRUE(validated({op, 32, 16, 16, Elements::e4m3_rows_bf16, 4}));
    EXPECT_TRUE(validated({op, 24, 16, 16, Elements::e4m3_tensor_bf16, 4}));
    const auto refused = validated({op, 24, 16, 16, Elements::e4m3_rows_fp16, 4});
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message.find("a multiple of 4 * ranks = 16"), std::string::npos);
  }
  EXPECT_TRUE(validated({Op::gemm_reduce_scatter, 12, 16, 16, Elements::e4m3_rows_bf16, 4}));
  EXPECT_TRUE(validated({Op::gemm_all_reduce, 7, 16, 16, Elements::e4m3_rows_bf16, 4}));
  EXPECT_FALSE(validated({Op::gemm_all_reduce, 7, 16, 8, Elements::e4m3_rows_bf16, 4}));
  EXPECT_FALSE(validated({Op::gemm_all_reduce, 7, 8, 16, Elements::e4m3_rows_bf16, 4}));
}

TEST(Problem, the_collective_moves_the_output_or_the_gathered_input) {
  Problem problem{Op::all_gather_gemm, 1024, 7168, 8192, Elements::bf16, 8};
  EXPECT_EQ(collective_bytes(problem).count, 1024LL * 8192 * 2);
  problem.op = Op::gemm_reduce_scatter;
  EXPECT_EQ(collective_bytes(problem).count, 1024LL * 7168 * 2);
  EXPECT_EQ(row_blocks(problem), 8);
  EXPECT_EQ(row_blocks(kDown), 1);
}

/// 12 rows on 4 ranks, as the definitions of MPI's collectives divide them.
TEST(Problem, a_rank_has_the_rows_that_the_collective_leaves_it) {
  struct Case {
    Op op;
    std::int64_t rows_of_a, rows_of_c, columns;
    int blocks;
  };
  const Case cases[] = {{Op::gemm_all_reduce, 12, 12, 8, 1},
                        {Op::gemm_reduce_scatter, 12, 3, 8, 4},
                        {Op::all_gather_gemm, 3, 12, 16, 4},
                        {Op::gemm_all_to_all, 12, 12, 8, 4},
                        {Op::all_to_all_gemm, 12, 12, 16, 4}};
  for (const Case& expected : cases) {
    const Problem problem{expected.op, 12, 8, 16, Elements::bf16, 4};
    SCOPED_TRACE(to_string(problem));
    EXPECT_EQ(rows_of_a(problem), expected.rows_of_a);
    EXPECT_EQ(rows_of_c(problem), expected.rows_of_c);
    EXPECT_EQ(exchanged_columns(problem), expected.columns);
    EXPECT_EQ(row_blocks(problem), expected.blocks);
  }
}

TEST(Problem, the_largest_sizes_do_not_overflow) {
  const Problem problem{Op::gemm_all_reduce, kLargestSize,   2147483640,
                        2147483640,          Elements::bf16, 8};
  ASSERT_TRUE(validated(problem));
  EXPECT_GT(collective_bytes(problem).count, 0);
}

}  // namespace
}  // namespace overlaptune
