#include "workload/problem_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

std::string error_of(std::string_view csv) {
  const auto problems = parse_problems(csv, "p.csv");
  return problems ? "" : problems.error().message;
}

TEST(ProblemFile, reads_sizes_blank_lines_and_comments) {
  const auto problems = parse_problems(
      "\xef\xbb\xbfop,m,n,k,dtype,ranks\r\n"
      "gemm_all_reduce,4k,8192,3584,bf16,8\r\n"
      "\n# a comment\n"
      " all_gather_gemm , 4096 , 1280 , 8192 , fp16 , 8 \n",
      "p.csv");
  ASSERT_TRUE(problems) << problems.error().message;
  const std::vector<Problem> expected{{Op::gemm_all_reduce, 4096, 8192, 3584, Elements::bf16, 8},
                                      {Op::all_gather_gemm, 4096, 1280, 8192, Elements::fp16, 8}};
  EXPECT_EQ(*problems, expected);
}

TEST(ProblemFile, errors_name_line_and_field) {
  const std::string header = "op,m,n,k,dtype,ranks\n";
  const std::string good = "gemm_all_reduce,4096,8192,3584,bf16,8\n";
  EXPECT_THAT(error_of(good), HasSubstr("line 1: expected the header"));
  EXPECT_THAT(error_of(header + "gemm_all_reduce,4096,8192,3584,bf16\n"),
              HasSubstr("line 2: 5 fields"));
  EXPECT_THAT(error_of(header + good + "gemm_all_reduce,x,8192,3584,bf16,8\n"),
              AllOf(HasSubstr("line 3"), HasSubstr("m: size 'x'")));
  EXPECT_THAT(error_of(header + "gemm_all_reduce,4096,8192,3584,int8,8\n"),
              HasSubstr("dtype 'int8'"));
  EXPECT_THAT(error_of(header + "gemm,4096,8192,3584,bf16,8\n"), HasSubstr("op 'gemm'"));
  EXPECT_THAT(error_of(header + "gemm_all_reduce,0,8192,3584,bf16,8\n"), HasSubstr("m = 0"));
  EXPECT_THAT(error_of(header + "gemm_all_reduce,8,8192,3584,bf16,1\n"), HasSubstr("ranks = 1"));
  EXPECT_THAT(error_of(header), HasSubstr("no problem"));
  EXPECT_THAT(error_of(""), HasSubstr("no problem"));
}

TEST(ProblemFile, takes_quoted_cells) {
  const auto problems = parse_problems(
      "\"op\",\"m\",\"n\",\"k\",\"dtype\",\"ranks\"\n\"gemm_all_reduce\",4k,8192,\"3584\",bf16,8\n",
      "p.csv");
  ASSERT_TRUE(problems) << problems.error().message;
  EXPECT_EQ(problems->front(), (Problem{Op::gemm_all_reduce, 4096, 8192, 3584, Elements::bf16, 8}));
}

TEST(ProblemFile, a_duplicate_names_both_lines) {
  EXPECT_THAT(error_of("op,m,n,k,dtype,ranks\n"
                       "gemm_all_reduce,4096,8192,3584,bf16,8\n"
                       "gemm_all_reduce,4096,8192,1024,bf16,8\n"
                       "gemm_all_reduce,4k,8k,3584,bf16,8\n"),
              AllOf(HasSubstr("line 4"), HasSubstr("line 2")));
}

}  // namespace
}  // namespace overlaptune
