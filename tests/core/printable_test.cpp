#include "core/base/printable.hpp"

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

TEST(Printable, leaves_text_as_it_is) {
  for (const char* text : {"", "rank 1 on node0: 5 %", "C:\\x", "Größe 1 µs, 日本, é\xc2\xa0"}) {
    EXPECT_EQ(printable(text), text);
  }
}

TEST(Printable, escapes_every_control_character) {
  EXPECT_EQ(printable("\x1b[2J\a\r\n\t"), "\\x1b[2J\\x07\\x0d\\x0a\\x09");
  EXPECT_EQ(printable(std::string("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\x9b");  // U+009B begins a command, as ESC [ does
  for (int c = 0; c < 0x20; ++c) {
    EXPECT_EQ(printable(std::string(1, static_cast<char>(c))).size(), 4U) << c;
  }
}

/// "Trojan Source" (Boucher and Anderson 2021) lists the letters that reorder others.
TEST(Printable, escapes_what_reorders_a_line_or_ends_it) {
  for (const int code : {0x61c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202b, 0x202c, 0x202d,
                         0x202e, 0x2066, 0x2067, 0x2068, 0x2069}) {
    EXPECT_TRUE(misleads(static_cast<char32_t>(code))) << code;
  }
  for (const int code : {0x61b, 0x61d, 0x200d, 0x2010, 0x2027, 0x202f, 0x2065, 0x206a, 0x5d0}) {
    EXPECT_FALSE(misleads(static_cast<char32_t>(code))) << code;
  }
  EXPECT_EQ(printable("exe.\u202etxt\u2069"), "exe.\\x202etxt\\x2069");
  EXPECT_EQ(printable("שלום"), "שלום");
}

TEST(Printable, a_whole_output_keeps_its_lines) {
  EXPECT_EQ(printable_lines("a\tb\nc\n"), "a\tb\nc\n");
  EXPECT_EQ(printable_lines("\x1b[2J\r\xff"), "\\x1b[2J\\x0d\\xff");
  EXPECT_EQ(printable_lines("\x7f\u009b\u202e µ"), "\\u007f\\u009b\\u202e µ");
}

TEST(Printable, escapes_bytes_that_are_no_utf8) {
  EXPECT_EQ(printable("\x9b"
                      "31m"),
            "\\x9b31m");                                    // begins a command in ISO 8859-1
  EXPECT_EQ(printable("a\xff\xfe"), "a\\xff\\xfe");         // in no letter
  EXPECT_EQ(printable("\xc3"), "\\xc3");                    // cut short
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");           // longer than it need be
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // half of a letter of UTF-16
}

TEST(Printable, again_changes_nothing) {
  const std::string once = printable("\x1b\xc2\x9b\xff");
  EXPECT_EQ(printable(once), once);
}

}  // namespace
}  // namespace overlaptune
