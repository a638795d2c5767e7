#include "reports/figure.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/xml.hpp"

namespace overlaptune {
namespace {

using testing::HasSubstr;
using testing::Not;

Figure one_lane(std::vector<Bar> bars) {
  return {.title = "title",
          .panels = {{.title = "panel", .lanes = {{.name = "lane", .bars = std::move(bars)}}}},
          .axis = "time, µs"};
}

double number(const xml::Element& element, const std::string& attribute) {
  return std::stod(element.attributes.at(attribute));
}

/// The value at a place on the axis, by its first and last tick.
class Axis {
 public:
  explicit Axis(const xml::Element& svg) {
    const auto ticks = xml::find(svg, "text", "tick");
    if (ticks.size() < 2) throw std::runtime_error("fewer than two ticks");
    left_ = number(ticks.front(), "x");
    first_ = std::stod(ticks.front().text);
    scale_ = (std::stod(ticks.back().text) - first_) / (number(ticks.back(), "x") - left_);
  }
  [[nodiscard]] double operator()(double x) const { return first_ + (x - left_) * scale_; }
  [[nodiscard]] double unit() const { return scale_; }  ///< value of one unit of the document

 private:
  double left_ = 0;
  double first_ = 0;
  double scale_ = 0;
};

TEST(Figure, bars_lie_where_the_axis_says) {
  for (const double scale : {1e-3, 1.0, 7.0, 123.0, 1e6}) {
    const std::vector<Bar> bars{{.begin = 0, .end = 1.5 * scale},
                                {.begin = 1.75 * scale, .end = 4 * scale},
                                {.begin = 8.25 * scale, .end = 9.5 * scale}};
    const xml::Element svg = xml::parse(to_svg(one_lane(bars)));
    const Axis axis(svg);
    const auto drawn = xml::find(svg, "rect", "bar");
    ASSERT_EQ(drawn.size(), bars.size());
    for (std::size_t i = 0; i < bars.size(); ++i) {
      const double left = number(drawn[i], "x");
      const double right = left + number(drawn[i], "width");
      EXPECT_NEAR(axis(left), bars[i].begin, 0.02 * axis.unit());
      EXPECT_NEAR(axis(right), bars[i].end, 0.02 * axis.unit());
      EXPECT_GE(left, 0);
      EXPECT_LE(right, number(svg, "width"));
    }
    const std::size_t ticks = xml::find(svg, "text", "tick").size();
    EXPECT_GE(ticks, 4U) << scale;
    EXPECT_LE(ticks, 10U) << scale;
  }
}

TEST(Figure, any_text_is_well_formed_xml) {
  const std::string odd = "a < b && \"c\" > 'd' \x01\xff\xc3 µ </text>";
  Figure figure = one_lane({{.begin = 0, .end = 10, .label = odd, .hint = odd}});
  figure.title = figure.axis = figure.panels[0].title = figure.panels[0].lanes[0].name = odd;
  figure.notes = {odd};
  figure.legend = {{{Paint::blue}, odd}};
  const xml::Element svg = xml::parse(to_svg(figure));
  const std::string shown = "a < b && \"c\" > 'd' \uFFFD\uFFFD\uFFFD µ </text>";
  EXPECT_EQ(xml::find(svg, "text", "title").at(0).text, shown);
  EXPECT_EQ(xml::find(svg, "text", "panel").at(0).text, shown);
  EXPECT_EQ(xml::find(svg, "text", "lane").at(0).text, shown);
  EXPECT_EQ(xml::find(xml::find(svg, "rect", "bar").at(0), "title").at(0).text, shown);
}

TEST(Xml, refuses_what_is_not_well_formed) {
  for (const char* text :
       {"", "<a>", "<a></b>", "<a x=1/>", "<a x=\"1\" x=\"2\"/>", "<a>&</a>", "<a>&nbsp;</a>",
        "<a x=\"<\"/>", "<a/><a/>", "<a>\x01</a>", "<a>\xff</a>"}) {
    EXPECT_ANY_THROW((void)xml::parse(text)) << text;
  }
  EXPECT_EQ(xml::parse("<a x=\"1\"><b/>&lt;</a>").text, "<");
}

TEST(Figure, what_has_no_length_is_not_drawn) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double endless = std::numeric_limits<double>::infinity();
  const std::string none = to_svg(one_lane({{.begin = 3, .end = 3},
                                            {.begin = 4, .end = 2},
                                            {.begin = nan, .end = 5},
                                            {.begin = 0, .end = endless}}));
  EXPECT_TRUE(xml::find(xml::parse(none), "rect", "bar").empty());
  EXPECT_THAT(none, Not(HasSubstr("nan")));
  EXPECT_THAT(none, Not(HasSubstr("inf")));
  EXPECT_NO_THROW((void)xml::parse(to_svg({})));
}

TEST(Figure, labels_are_drawn_where_they_fit) {
  const xml::Element svg =
      xml::parse(to_svg(one_lane({{.begin = 0, .end = 1, .label = "long label"},
                                  {.begin = 1, .end = 1000, .label = "long label"}})));
  const auto labels = xml::find(svg, "text", "label");
  ASSERT_EQ(labels.size(), 1U);
  EXPECT_NEAR(Axis(svg)(number(labels[0], "x")), 500.5, 1);
}

/// From below the bars of one lane to above those of the next.
TEST(Figure, links_join_a_lane_and_the_next_one) {
  Figure figure = one_lane({{.begin = 0, .end = 100}});
  figure.panels[0].lanes[0].links = {{.from = 20, .to = 60}};
  figure.panels[0].lanes.push_back({.name = "next", .bars = {{.begin = 60, .end = 90}}});
  const xml::Element svg = xml::parse(to_svg(figure));
  const Axis axis(svg);
  const auto bars = xml::find(svg, "rect", "bar");
  const auto links = xml::find(svg, "line", "link");
  ASSERT_EQ(bars.size(), 2U);
  ASSERT_EQ(links.size(), 1U);
  EXPECT_NEAR(axis(number(links[0], "x1")), 20, 0.02 * axis.unit());
  EXPECT_NEAR(axis(number(links[0], "x2")), 60, 0.02 * axis.unit());
  EXPECT_EQ(number(links[0], "y1"), number(bars[0], "y") + number(bars[0], "height"));
  EXPECT_EQ(number(links[0], "y2"), number(bars[1], "y"));
}

TEST(Figure, long_notes_are_broken_and_complete) {
  std::string note = "signaled groups=";
  for (int i = 0; i < 200; ++i) note += std::to_string(100 + i) + ",";
  Figure figure = one_lane({{.begin = 0, .end = 1}});
  figure.notes = {note};
  const xml::Element svg = xml::parse(to_svg(figure));
  std::string read;
  std::set<std::string> lines;
  std::size_t narrowest = 200;
  for (const auto& line : xml::find(svg, "text", "note")) {
    if (line.text == figure.axis) continue;
    // 900 pixels less two margins of 24, and letters of 0.6 x 12 pixels: 118. A word has four.
    EXPECT_LE(line.text.size(), 118U);
    const bool is_last = read.size() + line.text.size() == note.size();
    if (!is_last) narrowest = std::min(narrowest, line.text.size());
    EXPECT_TRUE(lines.insert(line.attributes.at("y")).second) << "two lines in one place";
    read += line.text;
  }
  EXPECT_EQ(read, note);
  EXPECT_GE(narrowest, 115U);
}

TEST(Figure, a_legend_has_the_paints_of_each_key_before_its_label) {
  Figure figure = one_lane({{.begin = 0, .end = 1}});
  figure.legend = {{{Paint::blue}, "one"}, {{Paint::green, Paint::orange}, "two"}, {{}, "a link"}};
  const xml::Element svg = xml::parse(to_svg(figure));
  const auto keys = xml::find(svg, "rect", "key");
  const auto links = xml::find(svg, "line", "link");
  std::map<std::string, xml::Element> labels;
  for (const auto& note : xml::find(svg, "text", "note")) labels.emplace(note.text, note);
  ASSERT_EQ(keys.size(), 3U);
  ASSERT_EQ(links.size(), 1U);
  const std::set<std::string> paints{keys[0].attributes.at("fill"), keys[1].attributes.at("fill"),
                                     keys[2].attributes.at("fill")};
  EXPECT_EQ(paints.size(), 3U);
  // From left to right, without a swatch over a label.
  const std::vector<double> places{number(keys[0], "x"),
                                   number(labels.at("one"), "x"),
                                   number(keys[1], "x"),
                                   number(keys[2], "x"),
                                   number(labels.at("two"), "x"),
                                   number(links[0], "x1"),
                                   number(labels.at("a link"), "x")};
  EXPECT_TRUE(std::is_sorted(places.begin(), places.end()));
  EXPECT_EQ(number(labels.at("one"), "y"), number(labels.at("a link"), "y"));
}

TEST(Figure, a_long_legend_has_several_lines) {
  Figure figure = one_lane({{.begin = 0, .end = 1}});
  for (int i = 0; i < 7; ++i) {
    figure.legend.push_back({{Paint::blue}, std::string(29, 'a') + std::to_string(i)});
  }
  // 30 letters of 7.2 pixels, a swatch and space: three fit beside each other in 852 pixels.
  std::map<double, int> lines;
  for (const auto& note : xml::find(xml::parse(to_svg(figure)), "text", "note")) {
    if (note.text.starts_with("aaa")) ++lines[number(note, "y")];
  }
  std::vector<int> counts;
  for (const auto& [y, count] : lines) counts.push_back(count);
  EXPECT_EQ(counts, (std::vector{3, 3, 1}));
}

}  // namespace
}  // namespace overlaptune
