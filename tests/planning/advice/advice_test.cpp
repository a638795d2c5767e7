// Sums over the layers of a small Llama, with answers made by hand.

#include "planning/advice/advice.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

ModelConfig small_llama() {
  return {.name = "small",
          .layers = 3,
          .dense_layers = 3,
          .hidden = 1024,
          .intermediate = 4096,
          .heads = 8,
          .kv_heads = 4,
          .head_dim = 128,
          .value_head_dim = 128};
}

/// Every problem takes 10 us in sequence and 7 us with overlap, every product alone 5 us.
Adviser adviser() {
  return {.platform = {.gpu_count = 4},
          .probed = {4},
          .ask =
              [](const Problem&) {
                return Answer{
                    .source = Source::predicted, .predicted = us(7.0), .baseline = us(10.0)};
              },
          .alone = [](const Probe&) -> Expected<Microseconds> { return us(5.0); }};
}

AdviceOptions options() {
  return {.tp = {4}, .tokens = {2048}, .parallelism = {Parallelism::sequence, Parallelism::tensor}};
}

TEST(Advice, a_pass_has_the_sums_of_its_layers) {
  const Advice made = advise(small_llama(), options(), adviser());
  ASSERT_EQ(made.passes.size(), 2U);
  // With sequence parallelism qkv, o, gate_up and down have collectives; in plain TP o and down.
  for (const Pass& pass : made.passes) {
    const bool sequence = pass.parallelism == Parallelism::sequence;
    const double sequential = sequence ? 4 * 10 : 2 * 10 + 2 * 5;
    const double overlapped = sequence ? 4 * 7 : 2 * 7 + 2 * 5;
    EXPECT_EQ(pass.operations.size(), 4U);
    ASSERT_EQ(pass.layers.size(), 1U);
    EXPECT_TRUE(pass.layers[0].dense);
    EXPECT_EQ(pass.layers[0].layers, 3);
    EXPECT_DOUBLE_EQ(pass.layers[0].times.sequential.count(), sequential);
    EXPECT_DOUBLE_EQ(pass.layers[0].times.overlapped.count(), overlapped);
    EXPECT_DOUBLE_EQ(pass.times.sequential.count(), 3 * sequential);
    EXPECT_DOUBLE_EQ(pass.times.overlapped.count(), 3 * overlapped);
  }
  const auto best = fastest(made);
  ASSERT_EQ(best.size(), 1U);
  EXPECT_EQ(best[0]->parallelism, Parallelism::tensor);
}

TEST(Advice, measured_times_go_before_predicted_ones) {
  Adviser measured = adviser();
  measured.ask = [](const Problem&) {
    return Answer{
        .source = Source::exact, .predicted = us(7.0), .measured = us(8.0), .baseline = us(10.0)};
  };
  for (const Pass& pass : advise(small_llama(), options(), measured).passes) {
    for (const Operation& each : pass.operations) {
      EXPECT_DOUBLE_EQ(each.time.count(), each.kind == OperationKind::problem ? 8 : 5);
    }
  }
}

TEST(Advice, a_pass_without_a_time_is_left_out_with_the_reason) {
  Adviser silent = adviser();
  silent.ask = [](const Problem&) { return Answer{.reason = "no model"}; };
  const auto reason = [&](int tp) {
    AdviceOptions asked = options();
    asked.tp = {tp};
    const Advice made = advise(small_llama(), asked, silent);
    EXPECT_TRUE(made.passes.empty());
    EXPECT_EQ(made.left_out.size(), 2U);
    return made.left_out.empty() ? "" : made.left_out[0].reason;
  };
  EXPECT_THAT(reason(4), HasSubstr("no model"));
  EXPECT_THAT(reason(2), HasSubstr("no collective on 2 ranks"));
  EXPECT_THAT(reason(8), HasSubstr("has 4 GPUs"));
}

}  // namespace
}  // namespace overlaptune
