#include "core/base/csv.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using Rows = std::vector<std::vector<std::string>>;

Rows rows(std::string_view text) {
  Rows rows;
  const auto read = read_csv(text, "f", [&](const CsvRow& row) -> Expected<void> {
    rows.push_back(row.cells);
    return {};
  });
  EXPECT_TRUE(read);
  return rows;
}

std::string error(std::string_view text) {
  const auto read = read_csv(text, "f", [](const CsvRow&) -> Expected<void> { return {}; });
  return read ? "none" : read.error().message;
}

/// The examples of RFC 4180, section 2.
TEST(Csv, as_in_its_standard) {
  EXPECT_EQ(rows("aaa,bbb,ccc\r\nzzz,yyy,xxx\r\n"),
            (Rows{{"aaa", "bbb", "ccc"}, {"zzz", "yyy", "xxx"}}));
  EXPECT_EQ(rows("aaa,bbb,ccc\r\nzzz,yyy,xxx"),
            (Rows{{"aaa", "bbb", "ccc"}, {"zzz", "yyy", "xxx"}}));
  EXPECT_EQ(rows("\"aaa\",\"bbb\",\"ccc\"\r\nzzz,yyy,xxx"),
            (Rows{{"aaa", "bbb", "ccc"}, {"zzz", "yyy", "xxx"}}));
  EXPECT_EQ(rows("\"aaa\",\"b\r\nbb\",\"ccc\"\r\nzzz,yyy,xxx"),
            (Rows{{"aaa", "b\r\nbb", "ccc"}, {"zzz", "yyy", "xxx"}}));
  EXPECT_EQ(rows("\"aaa\",\"b\"\"bb\",\"ccc\""), (Rows{{"aaa", "b\"bb", "ccc"}}));
}

TEST(Csv, blanks_empty_cells_and_comments) {
  EXPECT_EQ(rows("# a\n\n a , b\t\r\n  \n,\n\"#\",\"\"\n"),
            (Rows{{"a", "b"}, {"", ""}, {"#", ""}}));
  EXPECT_EQ(rows(""), Rows{});
  EXPECT_EQ(rows("a,"), (Rows{{"a", ""}}));
}

TEST(Csv, rows_know_their_line) {
  std::vector<std::size_t> lines;
  ASSERT_TRUE(read_csv("# a\n\"x\ny\",1\n\nz,2", "f", [&](const CsvRow& row) -> Expected<void> {
    lines.push_back(row.line);
    return {};
  }));
  EXPECT_THAT(lines, ElementsAre(2, 5));
}

TEST(Csv, what_is_not_quoted_as_a_whole_is_named) {
  EXPECT_THAT(error("a\nb\"c\n"), HasSubstr("f: line 2: a quote within a cell"));
  EXPECT_THAT(error("\"a\" b\n"), HasSubstr("f: line 1: text behind a cell in quotes"));
  EXPECT_THAT(error("a\n\"b\nc\n"), HasSubstr("f: line 2: a quote that is not closed"));
}

}  // namespace
}  // namespace overlaptune
