// Timelines of `chunked` on measurements of simulated H200.

#include <cstddef>
#include <memory>

#include <gtest/gtest.h>

#include "fitted.hpp"
#include "model/strategy_model.hpp"

namespace overlaptune {
namespace {

class ChunkedTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fitted_ = std::make_unique<FittedMachine>(fit_simulated("h200-nvlink-x8", 8));
  }
  static void TearDownTestSuite() { fitted_.reset(); }

  static Prediction predicted(Op op) {
    const Problem problem{op, 16384, 2048, 4096, Elements::bf16, 8};
    return value_or_throw(
        fitted_->model.predict(problem, Chunked{.comm_ctas = 8, .chunks = 4}, Launch::graph));
  }

  inline static std::unique_ptr<FittedMachine> fitted_;
};

TEST_F(ChunkedTest, the_gemm_of_a_gather_ends_last) {
  const Prediction prediction = predicted(Op::all_gather_gemm);
  const auto& groups = prediction.timeline.groups;
  ASSERT_EQ(groups.size(), 4U);
  for (std::size_t i = 1; i < groups.size(); ++i) {
    EXPECT_EQ(groups[i].start, groups[i - 1].end) << "collectives run back to back";
  }
  EXPECT_EQ(prediction.timeline.gemm_end, prediction.time);
  EXPECT_LT(groups.back().end, prediction.time);
  // Nothing runs beside the first collective.
  EXPECT_EQ(groups[0].exposed, groups[0].end - groups[0].start);
}

TEST_F(ChunkedTest, the_last_collective_of_a_reduction_ends_last) {
  const Prediction prediction = predicted(Op::gemm_reduce_scatter);
  const auto& groups = prediction.timeline.groups;
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_EQ(groups.back().end, prediction.time);
  EXPECT_EQ(prediction.timeline.gemm_end, groups.back().ready);
}

}  // namespace
}  // namespace overlaptune
