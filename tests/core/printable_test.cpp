#include "core/printable.hpp"

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
