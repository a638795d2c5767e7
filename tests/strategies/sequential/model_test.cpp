// A GEMM and a collective in turn, from parts that are made by hand.

#include "strategies/sequential/model.hpp"

#include <gtest/gtest.h>

#include "tests/strategies/made_parts.hpp"

namespace overlaptune {
namespace {

constexpr double kMebibyte = 1 << 20;

/// Exchanged are 64 MiB of C, or 16 MiB of A.
Problem large_problem(Op op) {
  return {op, 8192, 4096, 1024, Elements::bf16, 8};
}

class SequentialModelTest : public testing::Test {
 protected:
  SequentialModelTest() {
    parts_.platform.sms = 132;
    parts_.launch = {.replay = 2, .kernel_gap = 3, .eager_submit = 4, .eager_first = 5};
    std::vector<Measurement> collectives;
    for (const int ctas : {kNcclsChoice, 16}) {
      for (const Collective each : {Collective::reduce_scatter, Collective::all_gather}) {
        const CollectiveKey key{each, 8, ctas, Transport::ring};
        const double longer = ctas == kNcclsChoice ? 0 : 10;
        collectives.push_back(measured(key, 16 * kMebibyte, 52 + longer));
        collectives.push_back(measured(key, 64 * kMebibyte, 202 + longer));
      }
    }
    parts_.collectives = value_or_throw(CollectiveModel::fit(collectives, parts_.launch, {}));
    ClassGemms& gemms = parts_.gemms[Elements::bf16];
    gemms.library =
        value_or_throw(LibraryGemmModel::fit(library_gemms(), parts_.launch, {}, 132, nullptr));
    gemm_ = gemms.library.time(8192, 4096, 1024, 132);
  }

  [[nodiscard]] Prediction predicted(Op op, Launch launch, int ctas = kNcclsChoice) const {
    const Work work = value_or_throw(
        Work::make(large_problem(op), Sequential{.comm_ctas = ctas}, parts_.capabilities));
    return value_or_throw(ModelOf<Sequential>().predict(parts_, work, launch));
  }

  Model::Parts parts_{};
  double gemm_ = 0;  ///< us
};

TEST_F(SequentialModelTest, the_collective_follows_the_gemm) {
  const Prediction prediction = predicted(Op::gemm_reduce_scatter, Launch::graph);
  EXPECT_DOUBLE_EQ(prediction.gemm_alone.count(), gemm_);
  EXPECT_DOUBLE_EQ(prediction.collective_alone.count(), 200);
  EXPECT_DOUBLE_EQ(prediction.time.count(), 2 + gemm_ + 3 + 200);
  EXPECT_DOUBLE_EQ(prediction.timeline.gemm_end.count(), 2 + gemm_);
  ASSERT_EQ(prediction.timeline.groups.size(), 1U);
  const GroupTimes& group = prediction.timeline.groups[0];
  EXPECT_DOUBLE_EQ(group.ready.count(), 2 + gemm_);
  EXPECT_DOUBLE_EQ(group.start.count(), 2 + gemm_ + 3);
  EXPECT_EQ(group.end, prediction.time);
  EXPECT_EQ(group.exposed, us(200));
  EXPECT_DOUBLE_EQ(predicted(Op::gemm_reduce_scatter, Launch::graph, 16).time.count(),
                   2 + gemm_ + 3 + 210);
}

TEST_F(SequentialModelTest, or_the_gemm_follows_the_collective) {
  const Prediction prediction = predicted(Op::all_gather_gemm, Launch::graph);
  EXPECT_DOUBLE_EQ(prediction.time.count(), 2 + 50 + 3 + gemm_);
  EXPECT_EQ(prediction.timeline.gemm_end, prediction.time);
  const GroupTimes& group = prediction.timeline.groups.at(0);
  EXPECT_EQ(group.ready, us(2));
  EXPECT_EQ(group.start, us(2));
  EXPECT_DOUBLE_EQ(group.end.count(), 52);
  EXPECT_EQ(group.exposed, us(50));
}

/// The second kernel is submitted while the first runs: a submission of 60 us lasts 10 us longer
/// than the exchange.
TEST_F(SequentialModelTest, eager_submissions_count_where_they_are_longer) {
  const double gap = 3;
  EXPECT_DOUBLE_EQ(predicted(Op::all_gather_gemm, Launch::eager).time.count(),
                   5 + 50 + gap + gemm_);
  parts_.launch.eager_submit = 60;
  EXPECT_DOUBLE_EQ(predicted(Op::all_gather_gemm, Launch::eager).time.count(), 5 + 50 + 10 + gemm_);
  EXPECT_DOUBLE_EQ(predicted(Op::all_gather_gemm, Launch::graph).time.count(),
                   2 + 50 + gap + gemm_);
  parts_.launch.eager_submit = gemm_ + 20;
  EXPECT_DOUBLE_EQ(predicted(Op::gemm_reduce_scatter, Launch::eager).time.count(),
                   5 + gemm_ + 20 + 200);
}

TEST_F(SequentialModelTest, a_setting_that_was_not_probed_is_an_error) {
  const Work work = value_or_throw(Work::make(large_problem(Op::gemm_reduce_scatter),
                                              Sequential{.comm_ctas = 8}, parts_.capabilities));
  EXPECT_FALSE(ModelOf<Sequential>().predict(parts_, work, Launch::graph));
}

}  // namespace
}  // namespace overlaptune
