#include <filesystem>
#include <overlaptune/run.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/abi/symbols.hpp"

namespace overlaptune {
namespace {

TEST(RunLibraryTest, ShowsOurFunctionsOnly) {
  EXPECT_THAT(symbols(NM " --dynamic", RUN_SHARED),
              testing::UnorderedElementsAre(
                  "ovt_run_version", "ovt_run_last_error", "ovt_run_nccl", "ovt_run_ways",
                  "ovt_plan_config", "ovt_world_create", "ovt_world_reserve", "ovt_world_destroy",
                  "ovt_world_abort", "ovt_world_check", "ovt_platform_detect", "ovt_plan_sizes",
                  "ovt_plan_create", "ovt_plan_buffers", "ovt_plan_run", "ovt_plan_run_scaled",
                  "ovt_plan_destroy", "ovt_recipe_of", "ovt_recipe_config", "ovt_recipe_sizes",
                  "ovt_family_create", "ovt_family_run", "ovt_family_run_scaled",
                  "ovt_family_buffers", "ovt_family_destroy", "ovt_result_allocate",
                  "ovt_result_free", "ovt_pool_begin", "ovt_pool_allocate", "ovt_pool_free"));
}

TEST(RunLibraryTest, IsSmall) {
  EXPECT_LT(std::filesystem::file_size(RUN_SHARED), 8'000'000U);
}

TEST(RunLibraryTest, TellsItsVersion) {
  EXPECT_STREQ(ovt_run_version(), OVERLAPTUNE_VERSION);
}

}  // namespace
}  // namespace overlaptune
