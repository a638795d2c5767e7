// The facts that `Nvml` reports, over a made-up NVML that needs no driver.

#include "run/host/nvml.hpp"

#include <gtest/gtest.h>

#include "core/base/dynamic_library.hpp"

namespace overlaptune::run {
namespace {

const std::vector<std::string> kFake{OVERLAPTUNE_FAKE_NVML};

void expect_silent(const Nvml& nvml) {
  EXPECT_EQ(nvml.conditions(), Conditions{});
  EXPECT_FALSE(nvml.power_limit_w());
  EXPECT_FALSE(nvml.max_sm_clock_mhz());
  EXPECT_FALSE(nvml.ecc());
  EXPECT_EQ(nvml.links().active, 0);
  EXPECT_FALSE(nvml.links().switched);
}

TEST(Nvml, tells_of_the_gpu_in_our_units) {
  const Nvml nvml("0000:01:00.0", kFake);
  EXPECT_EQ(nvml.conditions().sm_clock_mhz, 1305);
  EXPECT_EQ(nvml.conditions().power_w, 123.4);
  EXPECT_EQ(nvml.power_limit_w(), 700);
  EXPECT_EQ(nvml.max_sm_clock_mhz(), 1980);
  EXPECT_EQ(nvml.ecc(), true);
  EXPECT_EQ(nvml.driver_version(), "580.95.05");
}

TEST(Nvml, counts_the_links_that_are_up) {
  const Nvml nvml("0000:01:00.0", kFake);
  EXPECT_EQ(nvml.links().active, 3);
  EXPECT_TRUE(nvml.links().switched);
}

TEST(Nvml, what_a_gpu_does_not_support_is_absent) {
  expect_silent(Nvml("0000:02:00.0", kFake));
}

TEST(Nvml, of_a_gpu_that_it_does_not_know_all_is_absent) {
  const Nvml nvml("0000:03:00.0", kFake);
  expect_silent(nvml);
  EXPECT_FALSE(nvml.driver_version());
}

TEST(Nvml, where_there_is_none_all_is_absent) {
  const Nvml nvml("0000:01:00.0", {"/no/such/libnvidia-ml.so.1"});
  expect_silent(nvml);
  EXPECT_FALSE(nvml.driver_version());
}

TEST(Nvml, is_shut_down_as_often_as_it_was_initialised) {
  int (*users)() = nullptr;
  const auto library = value_or_throw(DynamicLibrary::open(OVERLAPTUNE_FAKE_NVML));
  ASSERT_TRUE(library.find({{"fake_nvml_users", users}}));
  {
    const Nvml known("0000:01:00.0", kFake);
    const Nvml unknown("0000:03:00.0", kFake);
    EXPECT_EQ(users(), 2);
  }
  EXPECT_EQ(users(), 0);
}

}  // namespace
}  // namespace overlaptune::run
