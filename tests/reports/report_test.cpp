#include "reports/report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "reports/json.hpp"
#include "reports/probe_curves.hpp"
#include "reports/products.hpp"
#include "reports/table/config_columns.hpp"
#include "reports/winners.hpp"
#include "tests/reports/rows.hpp"

namespace overlaptune {
namespace {

using ::testing::HasSubstr;

Snapshot sample() {
  Snapshot snapshot = rows::snapshot(
      {rows::winner(125),
       rows::winner(160, 1, {Op::gemm_reduce_scatter, 4096, 8192, 3584, Elements::bf16, 8})},
      {rows::candidate({.measured = 125, .rank = 0}), rows::candidate({.comm_ctas = 4})});
  const GemmProbe gemm{.m = 1000, .n = 1000, .k = 500, .sms = 100};
  const CollectiveProbe collective{.bytes = {2'000'000}, .ranks = 8, .comm_ctas = 16};
  snapshot.platforms.front().measurements = {
      {.probe = gemm, .time = rows::times(20)},
      {.probe = collective, .time = rows::times(10)},
      {.probe = ConcurrentProbe{gemm, collective},
       .time = rows::times(25),
       .collective_time = rows::times(15)},
      {.probe = CopyProbe{.bytes = {1000}, .ctas = 2}, .time = rows::times(2)},
      {.probe = LaunchProbe{LaunchCost::eager_first}, .time = rows::times(5)}};
  return snapshot;
}

const Table& named(const std::vector<Table>& tables, std::string_view name) {
  for (const Table& table : tables) {
    if (table.name == name) return table;
  }
  throw std::out_of_range("no such table");
}

double value(const Table& table, std::string_view column) {
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    if (table.columns[c].name == column) return std::get<double>(table.rows.at(0).at(c));
  }
  throw std::out_of_range("no such column");
}

TEST(ProbeCurves, derived_values_by_hand) {
  const auto tables = probe_curves(sample());
  EXPECT_NEAR(value(named(tables, "gemms"), "tflop_per_s"), 50, 1e-9);  // 10^9 flop in 20 us
  EXPECT_NEAR(value(named(tables, "collectives"), "bandwidth_gb_per_s"), 200, 1e-9);
  EXPECT_NEAR(value(named(tables, "collectives"), "algbw_gb_per_s"), 200, 1e-9);
  EXPECT_NEAR(value(named(tables, "collectives"), "busbw_gb_per_s"), 350, 1e-9);
  EXPECT_NEAR(value(named(tables, "contention"), "gemm_slowdown"), 1.25, 1e-12);
  EXPECT_NEAR(value(named(tables, "contention"), "collective_slowdown"), 1.5, 1e-12);
  EXPECT_NEAR(value(named(tables, "copies"), "bandwidth_gb_per_s"), 0.5, 1e-12);
  EXPECT_EQ(named(tables, "launch_costs").rows.size(), 1U);
}

TEST(Report, has_the_operations_of_layers_with_their_rates) {
  Snapshot snapshot = sample();
  auto& measurements = snapshot.platforms.front().measurements;
  measurements.push_back({.probe = LayerProbe{LayerWork::norm, 4'000'000}, .time = rows::times(2)});
  measurements.push_back(
      {.probe = LayerProbe{LayerWork::attention, 800'000'000}, .time = rows::times(4)});
  const auto document = OrderedJson::parse(report(snapshot, {}, {.format = ReportFormat::json}));
  const auto& rows = document.at("probes").at("layer_operations");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows.at(0).at("work"), "norm");
  EXPECT_EQ(rows.at(0).at("gb_per_s"), 2000);
  EXPECT_TRUE(rows.at(0).at("tflop_per_s").is_null());
  EXPECT_EQ(rows.at(1).at("amount"), 800'000'000);
  EXPECT_EQ(rows.at(1).at("tflop_per_s"), 200);
  EXPECT_TRUE(rows.at(1).at("gb_per_s").is_null());
}

TEST(Report, has_a_peer_matrix_where_pairs_were_probed) {
  Snapshot snapshot = sample();
  EXPECT_EQ(report(snapshot, {}, {}).find("Peer matrix"), std::string::npos);
  snapshot.platforms.front().measurements.push_back(
      {.probe = PeerProbe{{1'000'000}, 0, 1}, .time = rows::times(10)});
  const std::string text = report(snapshot, {}, {});
  EXPECT_THAT(text, HasSubstr("## Peer matrix of sim:eight\n"));
  EXPECT_THAT(text, HasSubstr("| 100.0 |"));
  const std::string peers =
      report(snapshot, {}, {.format = ReportFormat::csv, .only = {Section::peers}});
  EXPECT_EQ(peers, "# peers\nplatform,from,to,bandwidth_gb_per_s,latency_us\nsim:eight,0,1,100,\n");
  const std::string all = report(snapshot, {}, {.format = ReportFormat::json});
  const auto document = OrderedJson::parse(all);
  EXPECT_EQ(document.at("peers").at(0).at("bandwidth_gb_per_s"), 100);
  EXPECT_EQ(document.at("probes").at("peer_copies").at(0).at("repetitions"), 9);
}

TEST(Winners, means_by_hand) {
  // Speedups 200/125 and 200/160; hidden (200-125)/100 and (200-160)/100.
  const auto rows = to_json_rows(winner_means(sample()));
  ASSERT_EQ(rows.size(), 3U);
  EXPECT_EQ(rows[0]["op"], "all");
  EXPECT_NEAR(rows[0]["speedup_geomean"].get<double>(), std::sqrt(1.6 * 1.25), 1e-12);
  EXPECT_NEAR(rows[0]["hidden_fraction_geomean"].get<double>(), std::sqrt(0.75 * 0.4), 1e-12);
  EXPECT_NEAR(rows[0]["hidden_fraction_mean"].get<double>(), 0.575, 1e-12);
}

/// A snapshot with winners of 125 us on one platform and of 160 us on the other.
Snapshot of_two(const Platform& one, const Platform& other) {
  Snapshot snapshot =
      rows::snapshot({rows::winner(125), rows::winner(160, 1, rows::kProblem, 2)}, {}, one);
  snapshot.platforms.push_back({.stored = {.id = 2, .platform = other}});
  return snapshot;
}

TEST(Winners, without_a_time_there_is_no_speedup) {
  Winner winner = rows::winner(125).winner;
  EXPECT_EQ(speedup(winner), 1.6);
  winner.candidate.measured->median = us(0);
  EXPECT_FALSE(speedup(winner));
  winner.candidate.measured.reset();
  EXPECT_FALSE(speedup(winner));
}

TEST(Winners, simulated_and_real_ones_of_one_name_are_not_averaged_together) {
  Platform real = rows::platform();
  real.machine = "cuda";
  const Snapshot snapshot = of_two(rows::platform(), real);
  const auto means = to_json_rows(winner_means(snapshot));
  ASSERT_EQ(means.size(), 4U);  // all and gemm_all_reduce on each
  for (const auto& row : means) {
    EXPECT_EQ(row["winners"], 1);
    const bool simulated = row["platform"] == "sim:eight";
    EXPECT_TRUE(simulated || row["platform"] == "cuda:eight") << row["platform"];
    EXPECT_NEAR(row["speedup_geomean"].get<double>(), simulated ? 1.6 : 1.25, 1e-12);
  }
  const auto winners = to_json_rows(winners_in_full(snapshot));
  EXPECT_EQ(winners[0]["platform"], "sim:eight");
  EXPECT_EQ(winners[1]["platform"], "cuda:eight");
}

TEST(Winners, platforms_of_one_full_name_are_told_apart_by_their_fingerprints) {
  const Platform older = rows::platform("570.1");
  const Platform newer = rows::platform("580.2");
  const Snapshot snapshot = of_two(older, newer);
  const auto means = to_json_rows(winner_means(snapshot));
  ASSERT_EQ(means.size(), 4U);
  EXPECT_EQ(means[0]["platform"], "sim:eight (" + fingerprint(older) + ")");
  EXPECT_EQ(means[2]["platform"], "sim:eight (" + fingerprint(newer) + ")");
  EXPECT_EQ(means[2]["speedup_geomean"], 1.25);
  const std::string text = report(snapshot, {}, {});
  EXPECT_THAT(text, HasSubstr("## Winners on sim:eight (" + fingerprint(newer) + ")"));
}

TEST(Winners, long_partitions_are_cut_short) {
  Signaled config{.wave_groups = {928, 96}};
  EXPECT_EQ(brief_partition(config), "928+96");
  config.wave_groups.assign(12, 8);
  EXPECT_EQ(brief_partition(config), "8+8+8+8+… (12 groups)");
  EXPECT_EQ(brief_partition(Chunked{.chunks = 4}), "4 chunks");
  EXPECT_EQ(brief_partition({}), "-");
}

TEST(Report, exchanges_name_what_is_the_config_s_to_choose) {
  Signaled config{.wave_groups = {8, 8}};
  EXPECT_EQ(brief_exchange(config), "ring");
  config.comm_ctas = 8;
  config.transport = all_groups_by(Transport::peer_access);
  EXPECT_EQ(brief_exchange(config), "peer_access × 8");
  config.wait = Wait::kernel;
  EXPECT_EQ(brief_exchange(config), "peer_access × 8, kernel waits");
  EXPECT_EQ(brief_exchange({}), "ring");
  EXPECT_EQ(brief_exchange(Chunked{.comm_ctas = 16, .chunks = 4}), "ring × 16");
  EXPECT_EQ(brief_exchange(PeerStore{.wave_groups = {8}}), "peer_access");
}

TEST(ConfigColumns, are_the_same_for_every_strategy) {
  const std::vector<std::string> names{
      "strategy",  "block_m",     "block_n", "block_k",  "stages",    "cluster", "swizzle",
      "comm_ctas", "wave_groups", "chunks",  "k_chunks", "transport", "wait"};
  const std::vector<Config> configs{
      Sequential{}, Chunked{.comm_ctas = 16, .chunks = 4},
      Signaled{.tile = {128, 256, 64, 4, 2}, .swizzle = 8, .wave_groups = {928, 96}}};
  for (const Config& config : configs) {
    std::vector<std::string> found;
    for (const ConfigColumn& column : config_columns(config)) found.push_back(column.name);
    EXPECT_EQ(found, names);
  }
  // Fields that a strategy does not have, or that the library chooses, have no value.
  EXPECT_EQ(json_of(configs[0]).dump(),
            R"({"strategy":"sequential","block_m":null,"block_n":null,"block_k":null,)"
            R"("stages":null,"cluster":null,"swizzle":null,"comm_ctas":null,"wave_groups":null,)"
            R"("chunks":null,"k_chunks":null,"transport":"ring","wait":null})");
  EXPECT_EQ(json_of(configs[1]).dump(),
            R"({"strategy":"chunked","block_m":null,"block_n":null,"block_k":null,)"
            R"("stages":null,"cluster":null,"swizzle":null,"comm_ctas":16,"wave_groups":null,)"
            R"("chunks":4,"k_chunks":null,"transport":"ring","wait":null})");
  EXPECT_EQ(
      json_of(configs[2]).dump(),
      R"({"strategy":"signaled","block_m":128,"block_n":256,"block_k":64,"stages":4,)"
      R"("cluster":2,"swizzle":8,"comm_ctas":null,"wave_groups":[928,96],"chunks":null,"k_chunks":null,)"
      R"("transport":"ring","wait":"driver"})");
}

TEST(Winners, overlap_is_shown_to_those_who_report) {
  Winner traced = rows::winner(125).winner;
  Winner untold = traced;
  untold.overlap_fraction.reset();
  const auto overlaps = to_json_rows(winners_with_overlap({traced, untold}));
  EXPECT_EQ(overlaps.at(0).at("overlap"), 0.625);
  EXPECT_TRUE(overlaps.at(1).at("overlap").is_null());
  EXPECT_THAT(to_markdown(winners_with_overlap({untold})), HasSubstr("       - |\n"));
  EXPECT_FALSE(to_json_rows(winners_table({traced})).at(0).contains("overlap"));
}

/// The winner takes 160 us when it is cold, and nothing is known of it beside other work. Another
/// run found something else of the same config.
Snapshot sample_of_phases() {
  Snapshot snapshot = rows::snapshot({rows::winner(125)});
  const StoredWinner& winner = snapshot.winners[0];
  snapshot.phase_results = {rows::phase(winner, RunPhase::steady, 125),
                            rows::phase(winner, RunPhase::cold, 160),
                            rows::phase(winner, RunPhase::beside, 400)};
  snapshot.phase_results[2].run = 2;
  snapshot.phase_results[2].result.verdict = Verdict::timeout;
  snapshot.phase_results[2].result.reason = "not done after 5 s";
  return snapshot;
}

TEST(Report, phases_are_those_of_the_run_of_a_winner) {
  const Snapshot snapshot = sample_of_phases();
  EXPECT_THAT(report(snapshot, {}, {}), HasSubstr("| overlap |  cold | beside |\n"));
  EXPECT_THAT(report(snapshot, {}, {}), HasSubstr("|    0.62 | 1.250 |      - |\n"));
  EXPECT_THAT(report(snapshot, {}, {}), testing::Not(HasSubstr("## Second runs")));
  EXPECT_THAT(report(snapshot, {}, {.only = {Section::phases}}), HasSubstr("## Second runs"));
  const std::string csv = report(snapshot, {}, {.format = ReportFormat::csv});
  EXPECT_THAT(csv, HasSubstr(",power_w,cold_speedup,beside_speedup,validated_at,"));
  EXPECT_THAT(csv, HasSubstr(",1.25,,2026-01-01T00:00:00.000Z,"));
  const auto json = OrderedJson::parse(report(snapshot, {}, {.format = ReportFormat::json}));
  EXPECT_EQ(json.at("winners").at(0).at("phases").dump(),
            R"([{"phase":"steady","verdict":"valid","measured_us":125.0,"sequential_us":200.0,)"
            R"("speedup":1.6,"speedup_low":0.8,"speedup_high":3.2},{"phase":"cold",)"
            R"("verdict":"valid","measured_us":160.0,"sequential_us":200.0,"speedup":1.25,)"
            R"("speedup_low":0.625,"speedup_high":2.5}])");
  ASSERT_EQ(json.at("phases").size(), 3U);
  const auto& other = json.at("phases").at(2);
  EXPECT_EQ(other.at("phase"), "beside");
  EXPECT_EQ(other.at("verdict"), "timeout");
  EXPECT_EQ(other.at("reason"), "not done after 5 s");
  EXPECT_EQ(other.at("speedup_high"), 1.0);
}

const Problem kOther{Op::gemm_reduce_scatter, 4096, 8192, 3584, Elements::bf16, 8};

/// The first problem of the sample is three products of two models; the second is none.
Snapshot sample_of_models() {
  Snapshot snapshot = sample();
  LayerGemm gemm{.model = "wide, 4k",
                 .product = Product::o,
                 .tokens = 4096,
                 .times_per_pass = 80,
                 .problem = rows::kProblem};
  auto& gemms = snapshot.platforms.front().layer_gemms;
  gemms.push_back(gemm);
  gemm.product = Product::down;
  gemms.push_back(gemm);
  gemm.model = "deep";
  gemm.times_per_pass = 126;
  gemms.push_back(gemm);
  gemm.problem.k += 8;
  gemms.push_back(gemm);
  return snapshot;
}

TEST(Products, a_model_is_named_once) {
  const Snapshot snapshot = sample_of_models();
  const auto& gemms = snapshot.platforms.front().layer_gemms;
  EXPECT_EQ(brief_products(products_of(rows::kProblem, gemms)),
            "wide, 4k o ×80, down ×80, deep down ×126");
  EXPECT_EQ(brief_products(products_of(kOther, gemms)), "");
}

TEST(Winners, products_stand_beside_the_problem_where_they_are_known) {
  const Snapshot snapshot = sample_of_models();
  const auto& gemms = snapshot.platforms.front().layer_gemms;
  const std::vector<Winner> winners{snapshot.winners[0].winner, snapshot.winners[1].winner};
  for (const Table& table : {winners_table(winners, gemms), winners_with_overlap(winners, gemms)}) {
    EXPECT_EQ(table.columns.at(0).name, "problem");
    EXPECT_EQ(table.columns.at(1).name, "product");
    const auto rows = to_json_rows(table);
    EXPECT_EQ(rows[0]["product"], "wide, 4k o ×80, down ×80, deep down ×126");
    EXPECT_EQ(rows[0]["tokens"], 4096);
    EXPECT_TRUE(rows[1]["product"].is_null());
    EXPECT_EQ(rows[1]["launch"], "graph");
  }
  const std::vector<Winner> unknown{snapshot.winners[1].winner};
  EXPECT_EQ(to_markdown(winners_table(unknown, gemms)), to_markdown(winners_table(unknown)));
  EXPECT_FALSE(to_json_rows(winners_table(unknown, gemms)).at(0).contains("product"));
}

TEST(Report, shows_what_problems_are_in_their_models) {
  const Snapshot snapshot = sample_of_models();
  EXPECT_THAT(report(snapshot, {}, {}), HasSubstr("| wide, 4k o ×80, down ×80, deep down ×126 |"));
  EXPECT_THAT(report(sample(), {}, {}), testing::Not(HasSubstr("product")));

  const std::string csv = report(snapshot, {}, {.format = ReportFormat::csv});
  const std::string key = fingerprint(rows::platform());
  EXPECT_THAT(
      csv,
      HasSubstr(",validated_at,model,product,times_per_pass,parallelism,tokens,fingerprint\n"));
  EXPECT_THAT(
      csv, HasSubstr(",\"wide, 4k;wide, 4k;deep\",o;down;down,80;80;126,tp;tp;tp,4096;4096;4096," +
                     key + "\n"));
  EXPECT_THAT(csv, HasSubstr("Z,,,,,," + key + "\n"));

  const auto json = OrderedJson::parse(report(snapshot, {}, {.format = ReportFormat::json}));
  EXPECT_EQ(json.at("winners").at(0).at("fingerprint"), key);
  const auto& products = json.at("winners").at(0).at("layer_gemms");
  ASSERT_EQ(products.size(), 3U);
  EXPECT_EQ(products.at(2), (OrderedJson{{"model", "deep"},
                                         {"product", "down"},
                                         {"parallelism", "tp"},
                                         {"tokens", 4096},
                                         {"times_per_pass", 126}}));
  EXPECT_EQ(json.at("winners").at(1).at("layer_gemms"), OrderedJson::array());
}

TEST(Report, json_is_one_document_with_every_part) {
  const auto json = OrderedJson::parse(report(sample(), sample(), {.format = ReportFormat::json}));
  EXPECT_EQ(json.at("platforms").at(0).at("name"), "eight");
  const auto& winner = json.at("winners").at(0);
  EXPECT_EQ(winner.at("problem").at("n"), 8192);
  EXPECT_EQ(winner.at("config").at("wave_groups"), (std::vector<int>{928, 96}));
  EXPECT_TRUE(winner.at("config").at("chunks").is_null());
  EXPECT_NEAR(winner.at("hidden_fraction").get<double>(), 0.75, 1e-12);
  EXPECT_EQ(winner.at("overlap_fraction"), 0.625);
  EXPECT_NEAR(winner.at("speedup").get<double>(), 1.6, 1e-12);
  EXPECT_TRUE(winner.at("speedup_p10").is_null());  // nothing was paired
  EXPECT_EQ(json.at("failures").size(), 1U);
  EXPECT_EQ(json.at("failures").at(0).at("verdict"), "timeout");
  for (const char* part : {"means", "evaluation", "comparison", "conditions", "probes"}) {
    EXPECT_FALSE(json.at(part).empty()) << part;
  }
}

TEST(Report, markdown_and_csv_have_every_part) {
  const std::string markdown = report(sample(), sample(), {});
  for (const char* title : {"## Winners on sim:eight", "## Means", "## Prediction error",
                            "## Regret", "## Comparison", "## Failures", "## Conditions"}) {
    EXPECT_THAT(markdown, HasSubstr(title));
  }
  EXPECT_THAT(markdown, testing::Not(HasSubstr("## Probes")));
  EXPECT_THAT(markdown, HasSubstr("| overlap |"));
  const std::string csv = report(sample(), sample(), {.format = ReportFormat::csv});
  for (const char* name :
       {"# winners\n", "\n\n# means\n", "\n\n# prediction_error\n", "\n\n# regret\n",
        "\n\n# comparison\n", "\n\n# failures\n", "\n\n# conditions\n", "\n\n# gemms\n"}) {
    EXPECT_THAT(csv, HasSubstr(name));
  }
  EXPECT_THAT(csv, HasSubstr(",928 96,"));
  EXPECT_THAT(csv, HasSubstr(",hidden_fraction,overlap_fraction,sm_clock_mhz,"));
  EXPECT_THAT(csv, HasSubstr(",0.625,"));
}

TEST(Report, only_the_parts_that_are_wanted) {
  const ReportOptions probes{.only = {Section::probes}};
  const std::string markdown = report(sample(), sample(), probes);
  EXPECT_THAT(markdown, HasSubstr("## Probes: collectives"));
  EXPECT_THAT(markdown, HasSubstr("## Probes: launch costs"));
  EXPECT_THAT(markdown, testing::Not(HasSubstr("## Winners")));

  const ReportOptions two{.format = ReportFormat::json,
                          .only = {Section::means, Section::failures}};
  const auto json = OrderedJson::parse(report(sample(), sample(), two));
  EXPECT_EQ(json.size(), 3U);  // and the platforms
  EXPECT_EQ(json.at("failures").size(), 1U);

  const auto tables =
      report_tables(sample(), {}, {.format = ReportFormat::csv, .only = {Section::means}});
  ASSERT_EQ(tables.size(), 1U);
  EXPECT_EQ(tables.front().name, "means");
}

TEST(Report, a_mean_of_hidden_parts_needs_each_above_nothing) {
  // 200 us are as long as `sequential`; 150 us hide half of what can be hidden.
  const Snapshot snapshot = rows::snapshot({rows::winner(200), rows::winner(150)});
  const auto means = to_json_rows(winner_means(snapshot));
  EXPECT_TRUE(means[0]["hidden_fraction_geomean"].is_null());
  EXPECT_NEAR(means[0]["hidden_fraction_mean"].get<double>(), 0.25, 1e-12);
  EXPECT_NEAR(means[0]["speedup_geomean"].get<double>(), std::sqrt(200.0 / 150), 1e-12);
}

TEST(Report, begins_with_what_was_measured_where_and_when) {
  Snapshot snapshot = sample();
  auto& record = snapshot.platforms.front();
  record.stored.platform.gpu_model = "NVIDIA H200";
  record.last_run = TuningRun{.finished = true,
                              .provenance = {.program_version = "0.1.0+0afe391",
                                             .host = "node7",
                                             .started_at = "2026-11-22T10:49:52.153Z"}};
  // Speedups of 200/125 and 200/160.
  EXPECT_THAT(
      report(snapshot, {}, {}),
      testing::StartsWith(
          "# overlaptune report\n\n- 8 × NVIDIA H200 (sim:eight, simulated), driver 570.1, "));
  EXPECT_THAT(report(snapshot, {}, {}),
              HasSubstr("; 2026-11-22 on node7, overlaptune 0.1.0+0afe391: 2 winners, 1.41 times "
                        "as fast as sequential in the geometric mean\n"));
}

TEST(Report, an_empty_database_is_no_crash) {
  for (const auto format : {ReportFormat::markdown, ReportFormat::csv, ReportFormat::json}) {
    EXPECT_FALSE(report({}, {}, {.format = format}).empty());
  }
}

}  // namespace
}  // namespace overlaptune
