// Plans for a whole model, from a probed machine and from a database with the same measurements.

#include "query/measured_platform.hpp"

#include <memory>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fitted.hpp"
#include "tests/db/samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

constexpr Problem kProblem{Op::gemm_reduce_scatter, 4096, 8192, 2048, Elements::bf16, 8};

class MeasuredPlatformTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    fitted_ = new FittedMachine(fit_simulated("h200-nvlink-x8", 8));
    folder_ = new TemporaryFolder;
    Store store(file(), Access::create);
    const ProbeRunId run = store.begin_probe_run(store.add_platform(platform()), {});
    for (const Measurement& each : fitted_->measurements) store.add_measurement(run, each);
    store.finish_probe_run(run);
  }
  static void TearDownTestSuite() {
    delete folder_;
    delete fitted_;
  }

  [[nodiscard]] static std::string file() { return (*folder_ / "a.db").string(); }
  [[nodiscard]] static Platform platform() { return fitted_->machine->platform(); }
  [[nodiscard]] static ModelConfig llama() {
    return value_or_throw(
        read_model_config(OVERLAPTUNE_SOURCE_DIR "/examples/models/llama-3-8b.json"));
  }

  inline static FittedMachine* fitted_ = nullptr;
  inline static TemporaryFolder* folder_ = nullptr;
};

TEST_F(MeasuredPlatformTest, a_database_without_winners_answers_as_its_measurements_do) {
  const auto stored = MeasuredPlatform::of_database(file(), "");
  const auto probed = MeasuredPlatform::of_measurements(platform(), fitted_->measurements);
  EXPECT_EQ(stored.platform(), platform());
  const Answer answer = stored.answer(kProblem, Launch::graph);
  const Answer other = probed.answer(kProblem, Launch::graph);
  EXPECT_EQ(answer.source, Source::predicted);
  EXPECT_EQ(answer.config, other.config);
  ASSERT_TRUE(answer.predicted && other.predicted);
  EXPECT_NEAR(answer.predicted->count(), other.predicted->count(), 1e-6);
  EXPECT_THAT(other.reason, HasSubstr("nothing was tuned"));
}

TEST_F(MeasuredPlatformTest, advice_sums_the_answers_over_the_layers_of_the_model) {
  const auto measured = MeasuredPlatform::of_database(file(), "");
  const ModelConfig config = llama();
  const Adviser adviser = measured.adviser(Launch::graph);
  EXPECT_THAT(adviser.probed, ElementsAre(8));
  const Advice advice = advise(
      config, {.tp = {8}, .tokens = {4096}, .parallelism = {Parallelism::sequence}}, adviser);
  ASSERT_EQ(advice.passes.size(), 1U);
  const Pass& pass = advice.passes.front();
  double sequential = 0;
  double overlapped = 0;
  for (const Operation& each : pass.operations) {
    EXPECT_EQ(each.times_per_pass, config.layers);
    sequential += each.sequential.count() * static_cast<double>(config.layers);
    overlapped += each.time.count() * static_cast<double>(config.layers);
  }
  EXPECT_NEAR(pass.times.sequential.count(), sequential, 1e-6 * sequential);
  EXPECT_NEAR(pass.times.overlapped.count(), overlapped, 1e-6 * overlapped);
  EXPECT_LT(overlapped, sequential);
}

TEST_F(MeasuredPlatformTest, a_step_is_planned_within_its_bounds) {
  const auto measured = MeasuredPlatform::of_database(file(), "");
  const PlannedStep step =
      plan_model_step(llama(), {.tp = 8, .tokens = 4096}, {}, measured.step_grounds());
  EXPECT_EQ(step.platform, platform());
  EXPECT_FALSE(step.costs.empty());
  EXPECT_LE(step.plan.ideal_us, step.plan.scheduled_us);
  EXPECT_LE(step.plan.scheduled_us, step.plan.sequential_us);
}

TEST_F(MeasuredPlatformTest, what_was_never_probed_is_named) {
  const auto measured = MeasuredPlatform::of_measurements(platform(), {});
  EXPECT_EQ(measured.answer(kProblem, Launch::graph).source, Source::baseline);
  try {
    (void)measured.step_grounds();
    FAIL() << "expected a Failure";
  } catch (const Failure& failure) {
    EXPECT_THAT(failure.what(), HasSubstr("run `overlaptune probe`"));
  }
}

}  // namespace
}  // namespace overlaptune
