#include "core/platform.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

Platform platform() {
  return {.machine = "sim", .name = "x", .gpu_model = "NVIDIA H200", .gpu_count = 8, .sms = 132};
}

TEST(Platform, equal_platforms_have_equal_fingerprints_and_different_ones_do_not) {
  const Platform here = platform();
  EXPECT_EQ(fingerprint(here), fingerprint(platform()));
  EXPECT_EQ(fingerprint(here).size(), 16U);
  Platform there = here;
  there.multicast_allowed = true;
  EXPECT_NE(fingerprint(here), fingerprint(there));
  there = here;
  there.details = "other";
  EXPECT_NE(fingerprint(here), fingerprint(there));
}

/// Fingerprints are keys of databases: they may never change. The value is FNV-1a of the lines
/// "name=value", computed apart from this program.
TEST(Platform, the_fingerprint_is_stable) {
  EXPECT_EQ(fingerprint(platform()), "f304bb8221f7937b");
}

TEST(Platform, has_three_names_and_no_others) {
  Platform named = platform();
  named.machine = "sim";
  named.name = "h200-nvlink-x8";
  EXPECT_EQ(full_name(named), "sim:h200-nvlink-x8");
  EXPECT_TRUE(is_simulated(named));
  EXPECT_TRUE(is_named(named, "h200-nvlink-x8"));
  EXPECT_TRUE(is_named(named, "sim:h200-nvlink-x8"));
  EXPECT_TRUE(is_named(named, fingerprint(named)));
  EXPECT_FALSE(is_named(named, "cuda:h200-nvlink-x8"));
  EXPECT_FALSE(is_named(named, ""));
}

TEST(Platform, differences_name_the_field_and_both_values) {
  Platform there = platform();
  there.nccl_version = "2.28.9";
  const auto list = differences(platform(), there);
  ASSERT_EQ(list.size(), 1U);
  EXPECT_EQ(list[0], "nccl_version:  here, 2.28.9 there");
}

}  // namespace
}  // namespace overlaptune
