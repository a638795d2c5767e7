#include "reports/timeline_figure.hpp"

#include <cmath>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/xml.hpp"

namespace overlaptune {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr Problem kReduceScatter{.op = Op::gemm_reduce_scatter,
                                 .m = 4096,
                                 .n = 8192,
                                 .k = 1024,
                                 .elements = Elements::bf16,
                                 .ranks = 4};

/// Three groups; the last two end after the GEMM, the second one only in part.
ShownRun overlapped() {
  return {.config = "signaled groups=1,2,3",
          .time = us(130),
          .timeline = {.gemm_end = us(100),
                       .groups = {{0, us(30), us(35), us(60), us(0)},
                                  {1, us(80), us(85), us(105), us(5)},
                                  {2, us(100), us(106), us(130), us(24)}}}};
}

ShownRun sequential() {
  return {.config = "sequential",
          .time = us(195),
          .timeline = {.gemm_end = us(90), .groups = {{0, us(90), us(95), us(195), us(100)}}}};
}

ShownOn simulated() {
  return {.platform = {.machine = "sim", .name = "h200-nvlink-x4"}, .source = "predicted"};
}

const Bar* bar_at(const Lane& lane, double time) {
  const Bar* found = nullptr;
  for (const Bar& bar : lane.bars) {
    if (bar.begin <= time && time < bar.end) {
      EXPECT_EQ(found, nullptr) << "two bars at " << time;
      found = &bar;
    }
  }
  return found;
}

bool is_blue(const Bar* bar) {
  return bar != nullptr && (bar->paint == Paint::blue || bar->paint == Paint::light_blue);
}

bool is_green(const Bar* bar) {
  return bar != nullptr && (bar->paint == Paint::green || bar->paint == Paint::light_green);
}

/// At every moment the lanes show what the timeline says.
TEST(TimelineFigure, lanes_are_the_timeline) {
  for (const ShownRun& run : {overlapped(), sequential()}) {
    const Figure figure = timeline_figure(kReduceScatter, simulated(), {run});
    ASSERT_EQ(figure.panels.size(), 1U);
    const Lane& gemm = figure.panels[0].lanes.at(0);
    const Lane& communication = figure.panels[0].lanes.at(1);
    EXPECT_EQ(gemm.name, "GEMM");
    for (double time = 0.5; time < run.time.count() + 5; ++time) {
      EXPECT_EQ(is_blue(bar_at(gemm, time)), time < run.timeline.gemm_end.count()) << time;
      const GroupTimes* sent = nullptr;
      for (const GroupTimes& group : run.timeline.groups) {
        if (group.start.count() <= time && time < group.end.count()) sent = &group;
      }
      const Bar* bar = bar_at(communication, time);
      ASSERT_EQ(bar != nullptr, sent != nullptr) << time;
      if (bar == nullptr) continue;
      const bool exposed = time >= (sent->end - sent->exposed).count();
      EXPECT_EQ(bar->paint == Paint::orange, exposed) << time;
      EXPECT_EQ(is_green(bar), !exposed) << time;
    }
  }
}

TEST(TimelineFigure, the_gemm_is_cut_where_groups_are_ready) {
  const ShownRun run = overlapped();
  const Figure figure = timeline_figure(kReduceScatter, simulated(), {run});
  const Lane& gemm = figure.panels[0].lanes[0];
  for (const GroupTimes& group : run.timeline.groups) {
    const Bar* bar = bar_at(gemm, group.ready.count() - 0.5);
    ASSERT_NE(bar, nullptr);
    EXPECT_EQ(bar->end, group.ready.count());
    EXPECT_EQ(bar->label, std::to_string(group.group));
  }
  ASSERT_EQ(gemm.links.size(), 3U);
  EXPECT_EQ(gemm.links[1].from, 80);
  EXPECT_EQ(gemm.links[1].to, 85);
}

TEST(TimelineFigure, groups_that_are_ready_together_make_one_cut) {
  ShownRun run = overlapped();
  run.timeline.groups[1].ready = run.timeline.groups[0].ready;
  const Figure figure = timeline_figure(kReduceScatter, simulated(), {run});
  const Lane& gemm = figure.panels[0].lanes[0];
  std::vector<std::pair<double, double>> bars;
  for (const Bar& bar : gemm.bars) {
    if (bar.end > bar.begin) bars.emplace_back(bar.begin, bar.end);
  }
  EXPECT_THAT(bars, testing::ElementsAre(testing::Pair(0, 30), testing::Pair(30, 100)));
  EXPECT_EQ(gemm.bars.at(0).label, "0");
  EXPECT_EQ(gemm.bars.at(1).label, "2");
}

TEST(TimelineFigure, a_gather_comes_before_its_gemm) {
  Problem gather = kReduceScatter;
  gather.op = Op::all_gather_gemm;
  // The GEMM stops while it waits for the second piece: for 20 of its 40 µs.
  const ShownRun run{.config = "chunked chunks=2",
                     .time = us(120),
                     .timeline = {.gemm_end = us(120),
                                  .groups = {{0, us(0), us(0), us(40), us(40)},
                                             {1, us(40), us(40), us(80), us(20)}}}};
  const Figure figure = timeline_figure(gather, simulated(), {run});
  const Lane& communication = figure.panels[0].lanes.at(0);
  const Lane& gemm = figure.panels[0].lanes.at(1);
  EXPECT_EQ(gemm.name, "GEMM");
  EXPECT_TRUE(communication.links.empty());
  for (double time = 0.5; time < 120; ++time) {
    const bool computes = (time > 40 && time < 60) || time > 80;
    EXPECT_EQ(is_blue(bar_at(gemm, time)), computes) << time;
    const Bar* bar = bar_at(communication, time);
    EXPECT_EQ(bar != nullptr && bar->paint == Paint::orange, !computes) << time;
  }
}

TEST(TimelineFigure, says_what_is_shown) {
  const auto svg =
      to_svg(timeline_figure(kReduceScatter, simulated(), {overlapped(), sequential()}));
  const xml::Element root = xml::parse(svg);
  EXPECT_EQ(xml::find(root, "text", "title").at(0).text, to_string(kReduceScatter));
  const auto panels = xml::find(root, "text", "panel");
  ASSERT_EQ(panels.size(), 2U);
  EXPECT_EQ(panels[0].text, "signaled: 130.0 µs, of which 29.0 µs exposed communication");
  EXPECT_EQ(panels[1].text,
            "sequential: 195.0 µs, of which 100.0 µs exposed communication; 1.50 times as long");
  EXPECT_THAT(svg, HasSubstr("on sim:h200-nvlink-x4 (simulated machine), graph launch, predicted"));
  EXPECT_THAT(svg, HasSubstr("signaled groups=1,2,3"));
  ShownRun other = sequential();
  other.config = "sequential transport=symmetric";
  EXPECT_THAT(to_svg(timeline_figure(kReduceScatter, simulated(), {sequential(), other})),
              HasSubstr("sequential transport=symmetric: 195.0 µs"));
  ShownOn real = simulated();
  real.platform.machine = "cuda";
  EXPECT_THAT(to_svg(timeline_figure(kReduceScatter, real, {overlapped()})),
              Not(HasSubstr("simulated")));
}

}  // namespace
}  // namespace overlaptune
