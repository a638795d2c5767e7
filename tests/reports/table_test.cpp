#include "reports/table/table.hpp"

#include <cmath>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

Table sample_table() {
  return {.name = "sample",
          .columns = {{"name"}, {"time_us", 1}, {"count"}, {"fine"}},
          .rows = {{std::string("a,\"b\"\nc"), 12.3456789012345, std::int64_t{7}, true},
                   {std::string("µ|s"), std::nan(""), Cell(), false}}};
}

/// A reader of RFC 4180, written for this test.
std::vector<std::vector<std::string>> parse_csv(const std::string& text) {
  std::vector<std::vector<std::string>> rows{{""}};
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      rows.back().emplace_back();
    } else if (!quoted && c == '\n') {
      rows.push_back({""});
    } else {
      rows.back().back() += c;
    }
  }
  rows.pop_back();
  return rows;
}

TEST(Table, csv_reads_back) {
  const auto rows = parse_csv(to_csv(sample_table()));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0], (std::vector<std::string>{"name", "time_us", "count", "fine"}));
  EXPECT_EQ(rows[1][0], "a,\"b\"\nc");
  EXPECT_EQ(std::stod(rows[1][1]), 12.3456789012345);  // every digit
  EXPECT_EQ(rows[2], (std::vector<std::string>{"µ|s", "", "", "no"}));
}

TEST(Table, json_has_null_for_what_does_not_apply) {
  const auto json = OrderedJson::parse(to_json_rows(sample_table()).dump());
  EXPECT_EQ(json[0]["time_us"].get<double>(), 12.3456789012345);
  EXPECT_EQ(json[0]["count"], 7);
  EXPECT_EQ(json[0]["fine"], true);
  EXPECT_TRUE(json[1]["time_us"].is_null());
  EXPECT_TRUE(json[1]["count"].is_null());
}

/// A database may come from others.
TEST(Table, markdown_shows_no_control_characters) {
  const Table table{.name = "t", .columns = {{"a"}}, .rows = {{std::string("\x1b[2J\n|")}}};
  EXPECT_THAT(to_markdown(table), ::testing::HasSubstr("| \\x1b[2J\\x0a\\| |"));
}

TEST(Table, markdown_lines_up) {
  Table table = sample_table();
  table.rows[0][0] = std::string("a");
  std::istringstream lines(to_markdown(table));
  std::string line;
  std::vector<std::string> all;
  while (std::getline(lines, line)) all.push_back(line);
  ASSERT_EQ(all.size(), 4U);
  EXPECT_THAT(all[1], testing::HasSubstr("---: |"));  // numbers to the right
  EXPECT_THAT(all[2], testing::HasSubstr(" 12.3 |"));
  EXPECT_THAT(all[3], testing::HasSubstr("µ\\|s"));
  EXPECT_THAT(all[3], testing::HasSubstr("- |"));
  EXPECT_EQ(all[0].size(), all[2].size());
  EXPECT_EQ(all[3].size(), all[2].size() + 1);  // µ is two bytes and one column
}

}  // namespace
}  // namespace overlaptune
