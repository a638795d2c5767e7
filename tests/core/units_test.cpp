#include "core/base/units.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

TEST(Units, sizes_are_1024_based) {
  EXPECT_EQ(parse_size("12"), 12);
  EXPECT_EQ(parse_size("4k"), 4096);
  EXPECT_EQ(parse_size("64M"), 67108864);
  EXPECT_EQ(parse_size("1G"), 1073741824);
  EXPECT_EQ(parse_size("0"), 0);
}

TEST(Units, bytes_take_units_of_both_bases) {
  EXPECT_EQ(parse_bytes("1G"), 1073741824);
  EXPECT_EQ(parse_bytes("1GiB"), 1073741824);
  EXPECT_EQ(parse_bytes("1GB"), 1000000000);
  EXPECT_EQ(parse_bytes("64MiB"), 67108864);
  EXPECT_EQ(parse_bytes("3kB"), 3000);
  EXPECT_EQ(parse_bytes("12B"), 12);
  for (const char* text : {"", "B", "iB", "1iB", "1GBB", "1 GB", "-1GB", "9999999999GB", "1.5GB"}) {
    EXPECT_FALSE(parse_bytes(text)) << text;
  }
  EXPECT_FALSE(parse_size("1GB"));
  EXPECT_EQ(parse_bytes("1gb"), 1000000000);
  for (const char* bits : {"1Gb", "1Mb", "1Kb", "1Gib", "8Mib"}) {
    const auto size = parse_bytes(bits);
    ASSERT_FALSE(size) << bits;
    EXPECT_NE(size.error().message.find("Gb are bits"), std::string::npos);
  }
  EXPECT_NE(parse_bytes("9000000000G").error().message.find("at most 2^62"), std::string::npos);
}

TEST(Units, a_bad_size_is_an_error_that_quotes_it) {
  for (const char* text : {"", "k", "-1", "1.5", "4kk", "4 k", "1T", "9223372036854775807k", "0x10",
                           "99999999999999999999"}) {
    const auto size = parse_size(text);
    ASSERT_FALSE(size) << text;
    EXPECT_EQ(size.error().kind, ErrorKind::bad_input);
    EXPECT_NE(size.error().message.find("'" + std::string(text) + "'"), std::string::npos);
  }
}

TEST(Units, durations_take_seconds_minutes_and_hours) {
  EXPECT_EQ(parse_duration("90")->count(), 90);
  EXPECT_EQ(parse_duration("1.5s")->count(), 1.5);
  EXPECT_EQ(parse_duration("5m")->count(), 300);
  EXPECT_EQ(parse_duration("2h")->count(), 7200);
  for (const char* text : {"", "m", "0", "-5m", "5d", "inf", "nan", "5mm"}) {
    EXPECT_FALSE(parse_duration(text)) << text;
  }
}

}  // namespace
}  // namespace overlaptune
