// Small cases that can be solved by hand.

#include "machine/simulator/engine.hpp"

#include <stdexcept>

#include <gtest/gtest.h>

namespace overlaptune::sim {
namespace {

TEST(Engine, one_lane_runs_its_tasks_in_order_with_gaps) {
  const EngineRun run = run_engine({{.work = 10}, {.work = 5, .gap = 2}}, {}, 1);
  EXPECT_DOUBLE_EQ(run.compute.tasks[1].start, 12);
  EXPECT_DOUBLE_EQ(run.end(), 17);
}

TEST(Engine, a_lower_clock_stretches_the_compute_lane_alone) {
  const EngineRun run = run_engine({{.work = 10}}, {{.work = 10}}, 0.5);
  EXPECT_DOUBLE_EQ(run.compute.tasks[0].end, 20);
  EXPECT_DOUBLE_EQ(run.communication.tasks[0].end, 10);
}

TEST(Engine, a_task_waits_for_its_producer_and_the_delay) {
  const EngineRun run = run_engine(
      {{.work = 10}}, {{.work = 4, .needs = Dependency{.task = 0, .work = 6, .delay = 1.5}}}, 1);
  EXPECT_DOUBLE_EQ(run.communication.tasks[0].ready, 6);
  EXPECT_DOUBLE_EQ(run.communication.tasks[0].start, 7.5);
  EXPECT_DOUBLE_EQ(run.end(), 11.5);
}

// The collective runs from 4 to 8 beside the GEMM, which does work at half speed meanwhile: 4
// before, 2 during, the last 4 after.
TEST(Engine, an_active_collective_slows_the_gemm) {
  const EngineRun run =
      run_engine({{.work = 10}},
                 {{.work = 4, .slows_other = 2, .needs = Dependency{.task = 0, .work = 4}}}, 1);
  EXPECT_DOUBLE_EQ(run.communication.tasks[0].end, 8);
  EXPECT_DOUBLE_EQ(run.compute.tasks[0].end, 12);
}

// Both slow each other. GEMM alone until 4; then both at half speed until the GEMM has done its
// other 6 at 16; by then the collective has done 6 of 10 and does 4 more alone.
TEST(Engine, both_slow_each_other_while_both_run) {
  const EngineRun run =
      run_engine({{.work = 10, .slows_other = 2}},
                 {{.work = 10, .slows_other = 2, .needs = Dependency{.task = 0, .work = 4}}}, 1);
  EXPECT_DOUBLE_EQ(run.compute.tasks[0].end, 16);
  EXPECT_DOUBLE_EQ(run.communication.tasks[0].end, 20);
}

// Half as fast as alone until the GEMM ends at 10, with 3 of 6 done; then 3 more.
TEST(Engine, a_task_may_be_slowed_itself_while_the_gemm_runs) {
  const EngineRun run = run_engine(
      {{.work = 10}}, {{.work = 6, .slowed = 2, .needs = Dependency{.task = 0, .work = 4}}}, 1);
  EXPECT_DOUBLE_EQ(run.compute.tasks[0].end, 10);
  EXPECT_DOUBLE_EQ(run.communication.tasks[0].end, 13);
}

// Readiness is noted although the lane that waits is busy.
TEST(Engine, readiness_is_when_the_work_was_done_not_when_it_was_asked) {
  const EngineRun run =
      run_engine({{.work = 10}}, {{.work = 9}, {.work = 1, .needs = Dependency{0, 3, 1}}}, 1);
  EXPECT_DOUBLE_EQ(run.communication.tasks[1].ready, 3);
  EXPECT_DOUBLE_EQ(run.communication.tasks[1].start, 9);
}

TEST(Engine, the_compute_lane_may_wait_for_the_other) {
  const EngineRun run = run_engine(
      {{.work = 5, .needs = Dependency{0, 3, 0}}, {.work = 5, .needs = Dependency{1, 4, 0}}},
      {{.work = 3}, {.work = 4}}, 1);
  EXPECT_DOUBLE_EQ(run.compute.tasks[0].start, 3);
  EXPECT_DOUBLE_EQ(run.compute.tasks[1].start, 8);
  EXPECT_DOUBLE_EQ(run.end(), 13);
}

TEST(Engine, nothing_starts_before_it_is_submitted) {
  const EngineRun run = run_engine({{.work = 1, .earliest = 5}}, {{.work = 1, .earliest = 9}}, 1);
  EXPECT_DOUBLE_EQ(run.compute.tasks[0].start, 5);
  EXPECT_DOUBLE_EQ(run.end(), 10);
}

TEST(Engine, lanes_that_wait_for_each_other_are_refused) {
  EXPECT_THROW(static_cast<void>(run_engine({{.work = 1, .needs = Dependency{0, 1, 0}}},
                                            {{.work = 1, .needs = Dependency{0, 1, 0}}}, 1)),
               std::logic_error);
}

}  // namespace
}  // namespace overlaptune::sim
