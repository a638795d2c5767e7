// Quantities in sentences, beside what a person would write.

#include "core/base/readable.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

TEST(Readable, times) {
  EXPECT_EQ(readable(us(0)), "0 us");
  EXPECT_EQ(readable(us(4.125)), "4.12 us");
  EXPECT_EQ(readable(us(950)), "950 us");
  EXPECT_EQ(readable(us(999.4)), "999 us");
  EXPECT_EQ(readable(us(999.6)), "1 ms");
  EXPECT_EQ(readable(us(113'179)), "113 ms");
  EXPECT_EQ(readable(us(25'489'200)), "25.5 s");
  EXPECT_EQ(readable(us(7.2e9)), "7200 s");
}

TEST(Readable, bytes) {
  EXPECT_EQ(readable(Bytes{512}), "512 B");
  EXPECT_EQ(readable(Bytes{1 << 20}), "1 MiB");
  EXPECT_EQ(readable(Bytes{std::int64_t{20} << 30}), "20 GiB");
  EXPECT_EQ(readable(Bytes{16'060'522'496}), "15 GiB");
  EXPECT_EQ(readable(Bytes{std::int64_t{1000} << 20}), "1000 MiB");
}

TEST(Readable, counts_as_flags_take_them) {
  EXPECT_EQ(readable_count(1), "1");
  EXPECT_EQ(readable_count(1000), "1000");
  EXPECT_EQ(readable_count(1536), "1536");
  EXPECT_EQ(readable_count(16'384), "16k");
  EXPECT_EQ(readable_count(1 << 20), "1M");
  EXPECT_EQ(parse_size(readable_count(196'608)), 196'608);
}

}  // namespace
}  // namespace overlaptune
