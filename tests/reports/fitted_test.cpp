#include "reports/table/fitted.hpp"

#include <algorithm>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/table/table.hpp"
#include "reports/table/text_table.hpp"

namespace overlaptune {
namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Le;
using ::testing::Not;
using ::testing::StartsWith;

std::vector<std::size_t> line_widths(const std::string& text) {
  std::vector<std::size_t> widths;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) widths.push_back(width_of(line));
  return widths;
}

Table winners() {
  Table table{.name = "winners",
              .columns = {{"problem"}, {"launch"}, {"measured µs"}, {"ok"}, {"config"}}};
  for (const double time : {65.8, 194.5}) {
    table.rows.push_back({std::string("gemm_all_reduce:4096,4096,4096:bf16:8"),
                          std::string("graph"), time, std::string(time < 100 ? "yes" : "no"),
                          std::string("peer_store tile=128x64x64 groups=") +
                              (time < 100 ? "128,128,128,128,96" : "256,256,8,8,96")});
  }
  return table;
}

TEST(Fitted, what_is_narrow_enough_stays) {
  const std::string text = "A line.\n\n" + to_markdown(winners()) + "no end";
  EXPECT_EQ(fitted(text, 200), text + "\n");
}

TEST(Fitted, lists_are_shortened_first) {
  const std::string text = fitted(to_markdown(winners()), 121);
  EXPECT_THAT(text, HasSubstr("groups=128×4,96     |"));
  EXPECT_THAT(text, HasSubstr("groups=256×2,8×2,96 |"));
  EXPECT_THAT(text, HasSubstr("4096,4096,4096"));  // three sizes are no list
  EXPECT_THAT(text, HasSubstr("| launch |"));
}

TEST(Fitted, lists_of_sums_are_shortened_alike) {
  Table table{.name = "t", .columns = {{"list"}, {"same"}}};
  for (const char* list :
       {"128+128+128+128+96", "128+128+128,128", "8,8,8,8,8 and 1,2", "a,4,4,4,4,4"}) {
    table.rows.push_back({std::string(list), std::string(30, 'x')});
  }
  const std::string text = fitted(to_markdown(table), 40);
  EXPECT_THAT(text, HasSubstr("128×4+96"));
  EXPECT_THAT(text, HasSubstr("128+128+128,128"));  // three and one
  EXPECT_THAT(text, HasSubstr("8×5 and 1,2"));
  EXPECT_THAT(text, HasSubstr("a,4×5\n"));  // the comma before the list stays
}

TEST(Fitted, then_equal_columns_go_above) {
  const std::string text = fitted(to_markdown(winners()), 112);
  EXPECT_THAT(text, StartsWith("All rows: launch graph\n| problem"));
  EXPECT_THAT(text, HasSubstr("config"));
  EXPECT_THAT(text, Not(HasSubstr("| launch |")));
}

TEST(Fitted, a_long_list_of_equal_columns_is_broken_and_indented) {
  Table table{.name = "t", .columns = {{"x"}, {"one"}, {"two"}, {"three"}, {"four"}}};
  const Cell same = std::string("aaaaaaaaaa");
  for (const double x : {1.0, 2.0}) table.rows.push_back({x, same, same, same, same});
  EXPECT_THAT(fitted(to_markdown(table), 40), StartsWith("All rows: one aaaaaaaaaa, two\n"
                                                         "  aaaaaaaaaa, three aaaaaaaaaa, four\n"
                                                         "  aaaaaaaaaa\n"
                                                         "|   x |\n"));
}

TEST(Fitted, then_columns_are_left_out_and_named) {
  const std::string text = fitted(to_markdown(winners()), 60);
  EXPECT_THAT(text, HasSubstr("|        65.8 |"));
  EXPECT_THAT(text, HasSubstr("(--wide shows all): config, ok\n"));
  EXPECT_THAT(text, Not(HasSubstr("peer_store")));
}

TEST(Fitted, one_row_becomes_a_list) {
  Table table = winners();
  table.rows.pop_back();
  const std::string text = fitted(to_markdown(table), 80);
  EXPECT_THAT(text, HasSubstr("measured µs  65.8\n"));
  EXPECT_THAT(text, HasSubstr("groups=128×4,96"));
  EXPECT_THAT(text, Not(HasSubstr("|")));
}

TEST(Fitted, lines_that_do_not_end_as_rows_are_sentences) {
  const std::string text =
      fitted("| " + std::string(50, 'a') + " | b\n| --- | ---\n| 1 | last\n", 40);
  EXPECT_THAT(text, HasSubstr("| --- | ---\n| 1 | last\n"));
}

TEST(Fitted, sentences_are_broken_at_blanks) {
  EXPECT_EQ(fitted("one two three four five six seven eight nine ten", 40),
            "one two three four five six seven eight\n  nine ten\n");
  // An option as the help shows it.
  EXPECT_EQ(fitted("  --flag  what this flag does to all the others", 40),
            "  --flag  what this flag does to all the\n          others\n");
}

/// Whatever is printed fits, and every word and number outside of tables is still there.
TEST(Fitted, no_line_is_wider) {
  std::mt19937 random(1);
  const auto draw = [&](int most) { return std::uniform_int_distribution(0, most)(random); };
  const auto word = [&] {
    std::string text;
    for (int length = draw(draw(10) == 0 ? 120 : 12); length >= 0; --length) {
      text += draw(9) == 0 ? "µ" : std::string(1, "abc,0123|\\ "[draw(10)]);
    }
    return text;
  };
  for (int round = 0; round < 500; ++round) {
    Table table{.name = "t"};
    for (int c = draw(12); c >= 0; --c) table.columns.push_back({word()});
    for (int r = draw(6); r > 0; --r) {
      auto& row = table.rows.emplace_back();
      for (std::size_t c = 0; c < table.columns.size(); ++c) {
        row.push_back(draw(2) == 0 ? Cell(static_cast<double>(draw(1000000))) : Cell(word()));
      }
    }
    std::string sentence = "begin";
    for (int words = draw(40); words > 0; --words) sentence += " w" + std::to_string(draw(99999));
    const auto columns = static_cast<std::size_t>(40 + draw(120));
    const std::string shown = fitted(sentence + "\n" + to_markdown(table), columns);
    EXPECT_THAT(line_widths(shown), Each(Le(columns))) << shown;
    std::istringstream words(sentence);
    for (std::string each; words >> each;) EXPECT_THAT(shown, HasSubstr(each));
  }
}

}  // namespace
}  // namespace overlaptune
