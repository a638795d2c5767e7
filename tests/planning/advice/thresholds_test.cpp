// From which number of tokens overlap pays, on passes made by hand.

#include "planning/advice/thresholds.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

Operation operation(Product product, double sequential, double time, Source source) {
  return {.product = product,
          .times_per_pass = 1,
          .problem = {.op = Op::gemm_reduce_scatter, .m = 64, .n = 512, .k = 128, .ranks = 4},
          .answer = {.source = source},
          .sequential = us(sequential),
          .time = us(time)};
}

Pass pass(std::int64_t tokens, Parallelism parallelism, double sequential, double overlapped,
          std::vector<Operation> operations = {}) {
  return {.tp = 4,
          .parallelism = parallelism,
          .tokens = tokens,
          .operations = std::move(operations),
          .times = {us(sequential), us(overlapped)}};
}

/// `o` is faster at 128 tokens, not at 256, and again at 512; `down` always; `qkv` is alone.
Advice advice() {
  Advice made;
  const double o[] = {110, 95, 99, 77};
  std::int64_t tokens = 64;
  for (const double time : o) {
    Operation alone = operation(Product::qkv, 50, 50, Source::predicted);
    alone.kind = OperationKind::gemm;
    made.passes.push_back(pass(
        tokens, Parallelism::sequence, 250, 150 + time,
        {alone, operation(Product::o, 100, time, tokens == 512 ? Source::exact : Source::predicted),
         operation(Product::down, 100, 98, Source::predicted)}));
    made.passes.push_back(pass(tokens, Parallelism::tensor, 255, 255));
    tokens *= 2;
  }
  return made;
}

TEST(Thresholds, the_first_tokens_from_which_on_every_gain_is_sure) {
  const auto list = thresholds(advice());
  ASSERT_EQ(list.size(), 4U);  // o, down, the pass; the pass of plain TP
  EXPECT_EQ(list[0].name, "o");
  EXPECT_EQ(list[0].tokens, 512);  // not 128: at 256 it gains 1 %
  EXPECT_NEAR(list[0].gain, 100.0 / 77, 1e-12);
  EXPECT_TRUE(list[0].measured);
  EXPECT_EQ(list[0].largest, 512);
  EXPECT_EQ(list[1].name, "down");
  EXPECT_EQ(list[1].tokens, 64);  // 100 / 98 is above 1.02
  EXPECT_FALSE(list[1].measured);
  EXPECT_EQ(list[2].name, "pass");
  EXPECT_EQ(list[2].tokens, 512);
  EXPECT_NEAR(list[2].gain_at_largest, 250.0 / 227, 1e-12);
  EXPECT_EQ(list[3].name, "pass");
  EXPECT_EQ(list[3].tokens, std::nullopt);
  EXPECT_EQ(list[3].gain, 1);
}

TEST(Thresholds, sequence_parallelism_is_judged_against_plain_tp_without_overlap) {
  const auto list = sequence_thresholds(advice());
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].tp, 4);
  EXPECT_EQ(list[0].tokens, 128);  // 255 / 260, 255 / 245, 255 / 249, 255 / 227
  Advice without = advice();
  std::erase_if(without.passes,
                [](const Pass& each) { return each.parallelism == Parallelism::tensor; });
  EXPECT_TRUE(sequence_thresholds(without).empty());
}

TEST(Thresholds, sequence_parallelism_is_judged_against_plain_tp_of_the_same_tokens) {
  Advice made;
  made.passes = {
      pass(64, Parallelism::sequence, 100, 99.5), pass(64, Parallelism::tensor, 100, 100),
      pass(128, Parallelism::sequence, 1000, 900), pass(128, Parallelism::tensor, 1000, 1000)};
  const auto list = sequence_thresholds(made);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0].tokens, 128);  // 100 / 99.5 is within what two measurements differ by
}

}  // namespace
}  // namespace overlaptune
