#include "reports/blocks.hpp"

#include <algorithm>
#include <limits>
#include <random>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> list;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) list.push_back(line);
  return list;
}

Figure figure_of(const std::vector<Bar>& upper, const std::vector<Bar>& lower) {
  return {.title = "a problem",
          .legend = {{{Paint::blue, Paint::light_blue}, "GEMM"},
                     {{Paint::orange}, "exposed"},
                     {{}, "ready to start"}},
          .panels = {{.title = "signaled: 100.0 µs",
                      .lanes = {{.name = "GEMM", .bars = upper}, {.name = "sent", .bars = lower}}}},
          .axis = "time, µs"};
}

TEST(Blocks, draw_each_lane_over_one_axis) {
  const Figure figure = figure_of({{.begin = 0, .end = 50}, {50, 75, Paint::light_blue}},
                                  {{50, 75, Paint::green}, {75, 100, Paint::orange}});
  const auto drawn = lines(to_blocks(figure, {.columns = 45, .utf8 = false, .mark = " (mark)"}));
  ASSERT_EQ(drawn.size(), 5U);
  EXPECT_EQ(drawn[0], "signaled: 100.0 us (mark)");
  // 40 characters for 100 us.
  EXPECT_EQ(drawn[1], "GEMM " + std::string(20, '#') + std::string(10, '='));
  EXPECT_EQ(drawn[2], "sent " + std::string(20, ' ') + std::string(10, '+') + std::string(10, '!'));
  EXPECT_EQ(drawn[3], "     0" + std::string(24, ' ') + "100.0 us (mark)");
  EXPECT_EQ(drawn[4], "#= GEMM   ! exposed");
  EXPECT_THAT(to_blocks(figure, {.columns = 45}), HasSubstr("█▓"));
}

/// The characters of a paint are its share of the line, up to one for each end of a bar.
TEST(Blocks, characters_are_in_proportion_to_times) {
  std::mt19937 random(3);
  for (int round = 0; round < 200; ++round) {
    std::uniform_int_distribution<int> length(0, 400);
    std::vector<Bar> bars;
    double at = 0;
    double exposed = 0;
    for (int i = 0; i < 6; ++i) {
      const double begin = at + length(random);
      at = begin + 1 + length(random);
      bars.push_back({begin, at, i % 2 == 0 ? Paint::orange : Paint::green});
      if (i % 2 == 0) exposed += at - begin;
    }
    const std::size_t columns = 60 + static_cast<std::size_t>(round);
    const auto drawn = lines(to_blocks(figure_of({}, bars), {.columns = columns, .utf8 = false}));
    for (const std::string& line : drawn) EXPECT_LE(line.size(), columns);
    const auto cells = static_cast<double>(columns - 5);
    EXPECT_NEAR(static_cast<double>(std::count(drawn[2].begin(), drawn[2].end(), '!')),
                cells * exposed / at, 3.01);
  }
}

TEST(Blocks, ascii_is_ascii_and_narrow_terminals_get_the_least_width) {
  const std::string text =
      to_blocks(figure_of({{.begin = 0, .end = 1}}, {}), {.columns = 3, .utf8 = false});
  EXPECT_TRUE(std::all_of(text.begin(), text.end(), [](char c) { return (c & '\x80') == 0; }));
  EXPECT_EQ(lines(text)[1], "GEMM " + std::string(35, '#'));
}

TEST(Blocks, nothing_to_draw_is_not_an_error) {
  const double endless = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Figure figure = figure_of({{.begin = 0, .end = endless}, {nan, 4}, {5, 3}, {7, 7}}, {});
  EXPECT_EQ(lines(to_blocks(figure, {.utf8 = false}))[1], "GEMM ");
  EXPECT_THAT(to_blocks(Figure{}, {}), HasSubstr("0.0 µs"));
}

}  // namespace
}  // namespace overlaptune
