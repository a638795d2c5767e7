#include "reports/page/page_data.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/reports/rows.hpp"

namespace overlaptune {
namespace {

/// The value of a column in a row of a table of the document.
OrderedJson value_at(const OrderedJson& table, std::size_t row, std::string_view column) {
  const auto& columns = table.at("columns");
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i] == column) return table.at("rows").at(row).at(i);
  }
  throw std::out_of_range("no such column");
}

Snapshot sample_of_page() {
  Snapshot snapshot = rows::snapshot({rows::winner(125)},
                                     {rows::candidate({.measured = 150, .rank = 0}),
                                      rows::candidate({.comm_ctas = 8, .measured = 120, .rank = 1}),
                                      rows::candidate({.comm_ctas = 4})});
  auto& platform = snapshot.platforms.front();
  platform.measurements = {
      {.probe = CollectiveProbe{.bytes = {2'000'000}, .ranks = 8, .comm_ctas = 16},
       .time = rows::times(10)},
      {.probe = CopyProbe{.bytes = {1'000'000}}, .time = rows::times(4)},
      {.probe = CopyProbe{.bytes = {1'000'000}, .ctas = 2}, .time = rows::times(5)}};
  LayerGemm gemm{.model = "wide",
                 .product = Product::o,
                 .tokens = 4096,
                 .times_per_pass = 80,
                 .problem = rows::kProblem};
  platform.layer_gemms.push_back(gemm);
  gemm.product = Product::down;
  platform.layer_gemms.push_back(gemm);
  return snapshot;
}

TEST(PageData, values_by_hand) {
  const Snapshot snapshot = sample_of_page();
  const OrderedJson data = page_data({.snapshot = snapshot, .other = {}});
  EXPECT_EQ(data.at("format"), 1);  // which reports/html reads
  const auto& platform = data.at("platforms").at(0);
  EXPECT_EQ(platform.at("name"), "sim:eight");
  EXPECT_EQ(platform.at("simulated"), true);
  EXPECT_EQ(platform.at("copy_gb_per_s"), 250);  // 10^6 bytes in 4 us
  EXPECT_EQ(platform.at("summary").at("speedup_geomean"), 1.6);
  EXPECT_EQ(platform.at("evaluation").at("regret_top1_mean"), 0.25);  // 150 against 120 us
  const auto& pass = platform.at("passes").at(0);
  EXPECT_EQ(pass.at("products"), 2);  // o and down
  EXPECT_EQ(pass.at("sequential_us"), 2 * 80 * 200);
  EXPECT_EQ(pass.at("overlapped_us"), 2 * 80 * 125);

  const auto& winners = data.at("winners");
  ASSERT_EQ(winners.at("rows").size(), 2U);  // a row for each product
  EXPECT_EQ(value_at(winners, 1, "product"), "down");
  EXPECT_EQ(value_at(winners, 1, "tokens"), 4096);
  EXPECT_EQ(value_at(winners, 1, "regret"), 0.25);
  EXPECT_TRUE(value_at(winners, 1, "timeline").is_null());
  EXPECT_EQ(data.at("candidates").at("total"), 2);
  EXPECT_EQ(data.at("failures").at("total"), 1);
  EXPECT_EQ(value_at(data.at("failures"), 0, "verdict"), "timeout");
  EXPECT_EQ(value_at(data.at("collectives"), 0, "bus_factor"), 1.75);
  EXPECT_TRUE(data.at("comparison").is_null());
}

TEST(PageData, the_fastest_copy_may_be_slow_or_not_probed) {
  Snapshot snapshot = sample_of_page();
  const auto fastest = [&] {
    return page_data({.snapshot = snapshot, .other = {}}).at("platforms").at(0).at("copy_gb_per_s");
  };
  snapshot.platforms.front().measurements = {
      {.probe = CopyProbe{.bytes = {1'000'000}}, .time = rows::times(2000)},
      {.probe = CopyProbe{.bytes = {1'000'000}}, .time = rows::times(4000)}};
  EXPECT_EQ(fastest(), 0.5);  // 10^6 bytes in 2 ms
  snapshot.platforms.front().measurements.clear();
  EXPECT_TRUE(fastest().is_null());
}

TEST(PageData, links_of_the_peer_matrix_follow_row_after_row) {
  Snapshot snapshot = sample_of_page();
  const auto peers = [&] {
    return page_data({.snapshot = snapshot, .other = {}}).at("platforms").at(0).at("peers");
  };
  EXPECT_TRUE(peers().is_null());
  auto& measurements = snapshot.platforms.front().measurements;
  measurements.push_back({.probe = PeerProbe{{1'000'000}, 1, 0}, .time = rows::times(4)});
  measurements.push_back({.probe = PeerProbe{{4096}, 1, 0}, .time = rows::times(3)});
  EXPECT_EQ(peers().dump(),
            R"({"gpus":2,"links":[[null,null],[null,null],[250.0,3.0],[null,null]]})");
}

TEST(PageData, a_pass_without_one_of_its_products_is_left_out) {
  Snapshot snapshot = sample_of_page();
  auto& gemms = snapshot.platforms.front().layer_gemms;
  gemms.back().problem.k += 8;
  EXPECT_TRUE(
      page_data({.snapshot = snapshot, .other = {}}).at("platforms").at(0).at("passes").empty());
}

TEST(PageData, a_timeline_says_when_the_gemm_ran_and_what_became_of_each_group) {
  const Snapshot snapshot = rows::snapshot({rows::winner(125)});
  const PredictedRun run{
      .time = us(130),
      .timeline = {.gemm_end = us(100),
                   .groups = {{.group = 0, .ready = us(50), .start = us(55), .end = us(80)},
                              {.group = 1,
                               .ready = us(100),
                               .start = us(101),
                               .end = us(130),
                               .exposed = us(29)}}}};
  const OrderedJson data =
      page_data({.snapshot = snapshot,
                 .other = {},
                 .predicted = {PredictedPair{.winner = run, .sequential = run}}});
  const auto shown = value_at(data.at("winners"), 0, "timeline").at("winner");
  EXPECT_EQ(shown.at("gemm").dump(), "[[0.0,100.0]]");
  EXPECT_EQ(shown.at("groups").dump(), "[[50.0,55.0,80.0,0.0],[100.0,101.0,130.0,29.0]]");
}

TEST(PageData, a_winner_has_its_speedups_in_other_phases) {
  Snapshot snapshot = rows::snapshot({rows::winner(125)});
  snapshot.phase_results = {rows::phase(snapshot.winners[0], RunPhase::cold, 160)};
  const OrderedJson data = page_data({.snapshot = snapshot, .other = {}});
  EXPECT_EQ(value_at(data.at("winners"), 0, "cold"), 1.25);
  EXPECT_TRUE(value_at(data.at("winners"), 0, "beside").is_null());
}

TEST(PageData, two_databases_are_compared) {
  const Snapshot snapshot = rows::snapshot({rows::winner(125)});
  const std::optional<Snapshot> other = rows::snapshot({rows::winner(100)});
  const OrderedJson data =
      page_data({.snapshot = snapshot, .other = other, .database = "a", .compared = "b"});
  EXPECT_EQ(data.at("comparison").at("slower"), 1);
  EXPECT_EQ(data.at("comparison").at("there"), "b");
}

}  // namespace
}  // namespace overlaptune
