#include <functional>
#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "db/impl.hpp"
#include "samples.hpp"
#include "tests/core/config_cases.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;

template <class Change>
void each_config(json& document, Change&& change) {
  for (json& run : document["tuning_runs"]) {
    for (json& candidate : run["candidates"]) change(candidate["config"]);
  }
  for (json& winner : document["winners"]) change(winner["candidate"]["config"]);
}

class JsonTest : public testing::Test {
 protected:
  JsonTest() { samples::fill(store_, 6, 50); }

  std::string exported() const {
    std::ostringstream out;
    export_json(store_, out);
    return out.str();
  }

  /// Imports into an empty database, which must stay empty. Returns the message.
  std::string refused(const std::string& text) {
    std::istringstream in(text);
    const auto outcome = import_json(target_, in);
    EXPECT_FALSE(outcome) << text.substr(0, 200);
    EXPECT_EQ(samples::content(target_), samples::Content{});
    EXPECT_EQ(target_.info().problems + target_.info().probe_runs, 0);
    if (outcome) return {};
    EXPECT_EQ(outcome.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(outcome.error().message.find('\n'), std::string::npos);
    EXPECT_LT(outcome.error().message.size(), 600U);
    return outcome.error().message;
  }

  TemporaryFolder folder_;
  Store store_{folder_ / "source.db", Access::create};
  Store target_{folder_ / "target.db", Access::create};
};

TEST_F(JsonTest, ExportAndImportRoundTripExactly) {
  const std::string first = exported();
  Store copy(folder_ / "copy.db", Access::create);
  std::istringstream in(first);
  ASSERT_TRUE(import_json(copy, in));
  EXPECT_EQ(samples::content(copy), samples::content(store_));
  std::ostringstream second;
  export_json(copy, second);
  EXPECT_EQ(second.str(), first);
  EXPECT_TRUE(copy.check().empty());
}

TEST_F(JsonTest, ImportingTwiceChangesNothing) {
  const std::string text = exported();
  for (int i = 0; i < 2; ++i) {
    std::istringstream in(text);
    ASSERT_TRUE(import_json(store_, in));
  }
  EXPECT_EQ(exported(), text);
}

TEST_F(JsonTest, TheDocumentHasUnitsInItsNames) {
  const json document = json::parse(exported());
  EXPECT_EQ(document["format"], "overlaptune");
  EXPECT_EQ(document["format_version"], 3);
  const auto& candidate = document["tuning_runs"][0]["candidates"][0];
  EXPECT_TRUE(candidate.contains("predicted_us"));
  EXPECT_EQ(candidate["config"], to_string(store_.all_candidates().front().candidate.config));
  EXPECT_TRUE(document["platforms"][0].contains("memory_bytes"));
  EXPECT_TRUE(document["probe_runs"][0]["measurements"][0]["time"].contains("median_us"));
  EXPECT_EQ(document["winners"][0]["run"], document["tuning_runs"][0]["uid"]);
}

TEST_F(JsonTest, AnEmptyDatabaseRoundTrips) {
  const Store empty(folder_ / "empty.db", Access::create);
  std::stringstream text;
  export_json(empty, text);
  EXPECT_TRUE(json::accept(text.str()));
  Store copy(folder_ / "copy.db", Access::create);
  EXPECT_TRUE(import_json(copy, text));
  EXPECT_EQ(samples::content(copy), samples::Content{});
}

TEST_F(JsonTest, TextThatIsNotUtf8IsExportedAsJsonNevertheless) {
  auto provenance = samples::Generator(1).provenance();
  provenance.command_line = "tune --db \xff\xfe.db";
  store_.begin_tuning_run(1, "request", provenance);
  EXPECT_TRUE(json::accept(exported()));
}

TEST_F(JsonTest, WhatIsNotJsonIsRefused) {
  for (const char* text : {"", "{", "null", "[]", "12", "\"text\"", "{\"format\": 1}",
                           "nonsense\n\n", "{\"format\": \"overlaptune\"}", "\xff\xfe", "1e999"}) {
    EXPECT_FALSE(refused(text).empty()) << text;
  }
  EXPECT_FALSE(refused(std::string(2'000'000, '[')).empty());
  EXPECT_FALSE(refused("\"" + std::string(100'000, 'x')).empty());
  const std::string whole = exported();
  for (std::size_t length = 10; length <= whole.rfind('}'); length += whole.size() / 20) {
    EXPECT_FALSE(refused(whole.substr(0, length)).empty());
  }
}

TEST_F(JsonTest, AWrongValueIsToldByItsPlace) {
  const json sound = json::parse(exported());
  const json::json_pointer first_candidate("/tuning_runs/1/candidates/3");
  struct Case {
    json::json_pointer where;
    json value;
    const char* said;
  };
  const std::vector<Case> cases{
      {json::json_pointer("/format"), "other", "format: "},
      {json::json_pointer("/format_version"), 4, "format_version: newer"},
      {json::json_pointer("/format_version"), "3", "format_version: "},
      {json::json_pointer("/platforms"), 3, "platforms: expected an array"},
      {json::json_pointer("/platforms/1/sms"), -1, "platforms[1].sms: expected a whole number"},
      {json::json_pointer("/platforms/1/sms"), 7, "platforms[1].fingerprint: "},
      {json::json_pointer("/platforms/0/memory_bytes"), 1.5, "platforms[0].memory_bytes: "},
      {json::json_pointer("/probe_runs/0/platform"), "0", "probe_runs[0].platform: no platform"},
      {json::json_pointer("/probe_runs/0/uid"), "", "probe_runs[0].uid: "},
      {json::json_pointer("/probe_runs/0/seed"), -4, "probe_runs[0].seed: "},
      {json::json_pointer("/probe_runs/0/measurements/2/time"), nullptr,
       "probe_runs[0].measurements[2].time: "},
      {json::json_pointer("/probe_runs/0/measurements/2/time/median_us"), -3.5,
       "probe_runs[0].measurements[2]: time median (us) is -3.5"},
      {json::json_pointer("/probe_runs/0/measurements/2/probe/kind"), "guess",
       "probe_runs[0].measurements[2].probe.kind: expected one of gemm"},
      {json::json_pointer("/tuning_runs/0/layer_gemms/2/product"), "head",
       "tuning_runs[0].layer_gemms[2].product: product 'head': expected one of qkv, o"},
      {json::json_pointer("/tuning_runs/0/layer_gemms/2/parallelism"), 8,
       "tuning_runs[0].layer_gemms[2].parallelism: expected text"},
      {json::json_pointer("/tuning_runs/0/layer_gemms/2/model"), "",
       "tuning_runs[0].layer_gemms[2]: model is empty"},
      {json::json_pointer("/tuning_runs/0/layer_gemms/2/times_per_pass"), 0,
       "tuning_runs[0].layer_gemms[2]: times_per_pass is 0"},
      {json::json_pointer("/tuning_runs/0/phase_results/1/phase"), "warm",
       "tuning_runs[0].phase_results[1].phase: phase 'warm': expected one of steady, cold, beside"},
      {json::json_pointer("/tuning_runs/0/phase_results/1/speedup"),
       {{"median", 1}, {"low", 1.5}, {"high", 2}},
       "tuning_runs[0].phase_results[1]: speedup median is 1; expected low to high, which are 1.5"},
      {json::json_pointer("/tuning_runs/0/phase_results/1/sequential_us"), -1,
       "tuning_runs[0].phase_results[1]"},
      {json::json_pointer("/tuning_runs/0/layer_gemms/2/problem/k"), 12,
       "tuning_runs[0].layer_gemms[2].problem: "},
      {first_candidate / "config", "magic ctas=0 transport=ring",
       "candidates[3].config: config: strategy = 'magic': expected one of"},
      {first_candidate / "config", "chunked ctas=8 transport=ring chunks=0",
       "candidates[3].config: config: chunks = '0': expected 1 to"},
      {first_candidate / "config", "chunked ctas=0 transport=ring chunks=4",
       "candidates[3]: ctas = 0: expected 1 or more with chunked"},
      {first_candidate / "config", "chunked transport=ring ctas=8",
       "candidates[3].config: config: expected it as it is printed: 'chunked ctas=8"},
      {first_candidate / "config", "sequential ctas=8 transport=copy_engine",
       "candidates[3]: ctas = 8: expected 0 by copy_engine"},
      {first_candidate / "config", 7, "candidates[3].config: "},
      {first_candidate / "config", nullptr, "candidates[3].config: "},
      {first_candidate / "problem" / "n", 12, "candidates[3].problem: "},
      {first_candidate / "problem" / "m", 18446744073709551615U, "candidates[3].problem.m: "},
      {first_candidate / "predicted_us", "fast", "candidates[3].predicted_us: expected a number"},
      {json::json_pointer("/winners/0/validated_at"), "zzzz", "winners[0].validated_at: "},
      {json::json_pointer("/winners/0/candidate/verdict"), "wrong", "winners[0]: verdict is wrong"},
      {json::json_pointer("/winners/0/overlap_fraction"), 1.5,
       "winners[0]: overlap_fraction is 1.5; expected 0 to 1"},
      {json::json_pointer("/winners/0/overlap_fraction"), "most",
       "winners[0].overlap_fraction: expected a number"},
      {json::json_pointer("/winners/0/run"), "0", "winners[0].run: "},
      {json::json_pointer("/winners/0/platform"), sound["platforms"][1]["fingerprint"],
       "winners[0].platform: "},
      {json::json_pointer("/tuning_runs/0/uid"), sound["probe_runs"][0]["uid"], "is a probe run"}};
  for (const auto& [where, value, said] : cases) {
    json document = sound;
    document[where] = value;
    const auto message = refused(document.dump());
    EXPECT_NE(message.find(said), std::string::npos) << message << "\nexpected: " << said;
  }
}

TEST_F(JsonTest, AnExportFromBeforeWinnersWereTracedIsTaken) {
  json document = json::parse(exported());
  ASSERT_FALSE(document["winners"].empty());
  for (json& winner : document["winners"]) EXPECT_EQ(winner.erase("overlap_fraction"), 1U);
  std::istringstream in(document.dump());
  ASSERT_TRUE(import_json(target_, in));
  auto expected = samples::content(store_);
  for (Winner& winner : expected.winners) winner.overlap_fraction.reset();
  EXPECT_EQ(samples::content(target_), expected);
}

TEST_F(JsonTest, ADocumentOfAnotherFormatIsRefused) {
  json document = json::parse(exported());
  document["format_version"] = 2;
  EXPECT_NE(refused(document.dump()).find("format_version: expected 3"), std::string::npos);
  document["format_version"] = 4;
  EXPECT_NE(refused(document.dump()).find("newer than this program"), std::string::npos);
}

TEST_F(JsonTest, AnExportFromBeforeProductsOfModelsWereKeptIsTaken) {
  json document = json::parse(exported());
  for (json& run : document["tuning_runs"]) EXPECT_EQ(run.erase("layer_gemms"), 1U);
  std::istringstream in(document.dump());
  ASSERT_TRUE(import_json(target_, in));
  auto expected = samples::content(store_);
  EXPECT_FALSE(expected.layer_gemms.front().empty());
  for (auto& gemms : expected.layer_gemms) gemms.clear();
  EXPECT_EQ(samples::content(target_), expected);
}

TEST_F(JsonTest, AnExportFromBeforeSecondRunsHadPhasesIsTaken) {
  json document = json::parse(exported());
  for (json& run : document["tuning_runs"]) EXPECT_EQ(run.erase("phase_results"), 1U);
  std::istringstream in(document.dump());
  ASSERT_TRUE(import_json(target_, in));
  auto expected = samples::content(store_);
  EXPECT_FALSE(expected.phase_results.front().empty());
  for (auto& results : expected.phase_results) results.clear();
  EXPECT_EQ(samples::content(target_), expected);
}

/// Candidates, written by hand.
constexpr const char* kSequential = R"({
  "problem": {"op": "all_gather_gemm", "m": 4096, "n": 1024, "k": 8192, "dtype": "fp16", "ranks": 4},
  "launch": "eager",
  "config": "sequential ctas=8 transport=symmetric",
  "origin": "explore", "rank_by_model": null, "predicted_us": 120.5, "verdict": "valid",
  "reason": "", "measured": {"median_us": 118.25, "p10_us": 117.5, "p90_us": 121.75, "count": 9},
  "speedup": {"median": 1.0, "p10": 0.99, "p90": 1.01}, "sm_clock_mhz": 1905.5, "power_w": null
})";
constexpr const char* kChunked = R"({
  "problem": {"op": "gemm_reduce_scatter", "m": 4096, "n": 8192, "k": 3584, "dtype": "bf16",
    "ranks": 8},
  "launch": "graph",
  "config": "chunked ctas=16 transport=ring chunks=4",
  "origin": "shortlist", "rank_by_model": 3, "predicted_us": 500, "verdict": "wrong",
  "reason": "rank 2 differs", "measured": null, "speedup": null, "sm_clock_mhz": null,
  "power_w": null
})";
constexpr const char* kSignaled = R"({
  "problem": {"op": "gemm_reduce_scatter", "m": 4096, "n": 8192, "k": 3584, "dtype": "bf16",
    "ranks": 8},
  "launch": "graph",
  "config": "signaled tile=128x256x64 stages=4 cluster=2 swizzle=2 ctas=20 transport=symmetric_then_ring groups=512,256,256",
  "origin": "shortlist", "rank_by_model": 0, "predicted_us": 410.25, "verdict": "valid",
  "reason": "", "measured": {"median_us": 420.5, "p10_us": 419, "p90_us": 423.5, "count": 9},
  "speedup": {"median": 1.25, "p10": 1.2, "p90": 1.3}, "sm_clock_mhz": 1800, "power_w": 512.5
})";

/// A document with these rows.
json by_hand(const Store& with_a_run) {
  std::ostringstream out;
  export_json(with_a_run, out);
  json document = json::parse(out.str());
  json& run = document["tuning_runs"][0];
  run["candidates"] =
      json::array({json::parse(kSequential), json::parse(kChunked), json::parse(kSignaled)});
  const json winner{{"platform", run["platform"]},
                    {"run", run["uid"]},
                    {"validated_at", "2026-01-31T12:00:00.000Z"},
                    {"candidate", json::parse(kSignaled)},
                    {"sequential_us", 525.5},
                    {"gemm_alone_us", 300.25},
                    {"collective_alone_us", 180}};
  document["winners"] = json::array({winner});
  return document;
}

Store with_a_run(const std::filesystem::path& file) {
  Store store(file, Access::create);
  samples::Generator draw(3);
  store.begin_tuning_run(store.add_platform(draw.platform()), "request", draw.provenance());
  return store;
}

TEST_F(JsonTest, ADocumentThatWasWrittenByHandIsUnderstood) {
  std::istringstream in(by_hand(with_a_run(folder_ / "run.db")).dump());
  const auto outcome = import_json(target_, in);
  ASSERT_TRUE(outcome) << outcome.error().message;

  const Candidate sequential{
      .problem = {Op::all_gather_gemm, 4096, 1024, 8192, Elements::fp16, 4},
      .launch = Launch::eager,
      .config = Sequential{.comm_ctas = 8, .transport = Transport::symmetric},
      .origin = Origin::explore,
      .predicted = us(120.5),
      .verdict = Verdict::valid,
      .measured = Summary{us(118.25), us(117.5), us(121.75), 9},
      .speedup = Candidate::Speedup{1.0, 0.99, 1.01},
      .conditions = {.sm_clock_mhz = 1905.5}};
  const Candidate chunked{.problem = {Op::gemm_reduce_scatter, 4096, 8192, 3584, Elements::bf16, 8},
                          .launch = Launch::graph,
                          .config = Chunked{.comm_ctas = 16, .chunks = 4},
                          .origin = Origin::shortlist,
                          .rank_by_model = 3,
                          .predicted = us(500),
                          .verdict = Verdict::wrong,
                          .reason = "rank 2 differs"};
  Candidate signaled = chunked;
  signaled.config = Signaled{.tile = {128, 256, 64, 4, 2},
                             .swizzle = 2,
                             .comm_ctas = 20,
                             .transport = {Transport::symmetric, Transport::ring},
                             .wait = Wait::driver,
                             .wave_groups = {512, 256, 256}};
  signaled.rank_by_model = 0;
  signaled.predicted = us(410.25);
  signaled.verdict = Verdict::valid;
  signaled.reason = "";
  signaled.measured = Summary{us(420.5), us(419), us(423.5), 9};
  signaled.speedup = Candidate::Speedup{1.25, 1.2, 1.3};
  signaled.conditions = {.sm_clock_mhz = 1800, .power_w = 512.5};
  const Winner winner{.candidate = signaled,
                      .sequential = us(525.5),
                      .gemm_alone = us(300.25),
                      .collective_alone = us(180)};
  const auto found = samples::content(target_);
  EXPECT_EQ(found.candidates, (std::vector{sequential, chunked, signaled}));
  EXPECT_EQ(found.winners, std::vector{winner});
  EXPECT_EQ(found.validated_at, std::vector<std::string>{"2026-01-31T12:00:00.000Z"});
}

/// Earlier programs took such a winner, answered with it as exact, and could not run it.
TEST_F(JsonTest, AWinnerThatCannotRunItsProblemIsRefusedAndNamed) {
  const json sound = by_hand(with_a_run(folder_ / "run.db"));
  json newer = sound;
  each_config(newer, [](json& config) { config = "chunked ctas=8 transport=ring"; });
  newer["winners"][0]["candidate"]["config"] =
      "signaled tile=128x256x64 stages=4 cluster=2 swizzle=2 ctas=20 transport=ring "
      "groups=512,256,256";
  EXPECT_NE(refused(newer.dump()).find("winners[0].candidate: expected one of its run"),
            std::string::npos);
  newer["tuning_runs"][0]["candidates"][2] = newer["winners"][0]["candidate"];
  const auto gathered = [](json& winner) {
    winner["candidate"]["problem"]["op"] = "all_gather_gemm";
  };
  const auto longer = [](json& winner) { winner["candidate"]["problem"]["n"] = 8448; };
  for (const json& document : {sound, newer}) {
    for (const auto& [change, said] :
         std::vector<std::pair<std::function<void(json&)>, const char*>>{
             {gathered, "winners[0]: strategy signaled: cannot run all_gather_gemm"},
             {longer, "winners[0]: wave_groups: 1024 tiles in all, expected 1056"}}) {
      json changed = document;
      change(changed["winners"][0]);
      EXPECT_NE(refused(changed.dump()).find(said), std::string::npos) << refused(changed.dump());
    }
    Store copy(std::make_unique<Store::Impl>(db::open_memory()));
    std::istringstream in(document.dump());
    const auto outcome = import_json(copy, in);
    EXPECT_TRUE(outcome) << outcome.error().message;
  }
}

TEST_F(JsonTest, WhatIsLegalIsImportedAndNothingElse) {
  json document = by_hand(with_a_run(folder_ / "run.db"));
  document["winners"] = json::array();
  json& candidates = document["tuning_runs"][0]["candidates"];
  json candidate = candidates[0];
  candidates = json::array();
  std::set<Config> legal;
  std::vector<std::string> illegal;
  constexpr int kEvery = 50;  // an import takes a while, and some 2,000 are illegal
  int index = 0;
  for (const auto& [config, is_legal] : cases::alone()) {
    if (!is_legal && ++index % kEvery == 0) illegal.push_back(to_string(config));
    if (!is_legal || !legal.insert(config).second) continue;
    candidate["config"] = to_string(config);
    candidates.push_back(candidate);
  }
  Store copy(std::make_unique<Store::Impl>(db::open_memory()));
  std::istringstream in(document.dump());
  const auto outcome = import_json(copy, in);
  ASSERT_TRUE(outcome) << outcome.error().message;
  std::set<Config> imported;
  for (const auto& stored : copy.all_candidates()) imported.insert(stored.candidate.config);
  EXPECT_EQ(imported, legal);
  EXPECT_GT(legal.size(), 100U);

  EXPECT_GT(illegal.size(), 20U);
  for (const std::string& line : illegal) {
    candidate["config"] = line;
    candidates = json::array({candidate});
    EXPECT_NE(refused(document.dump()).find("tuning_runs[0].candidates[0]"), std::string::npos)
        << line;
  }
}

TEST_F(JsonTest, EveryMissingFieldIsRefused) {
  const json document = json::parse(exported());
  std::set<std::string> seen;
  const auto flat = document.flatten();
  for (const auto& [path, value] : flat.items()) {
    // One place of each kind is enough.
    std::string kind;
    for (const char c : path) kind += c >= '0' && c <= '9' ? '#' : c;
    if (!seen.insert(kind).second) continue;
    if (path.ends_with("/overlap_fraction")) continue;  // younger than the format
    json::json_pointer pointer(path);
    if (pointer.back().find_first_not_of("0123456789") == std::string::npos) continue;
    json changed = document;
    changed[pointer.parent_pointer()].erase(pointer.back());
    EXPECT_FALSE(refused(changed.dump()).empty()) << path;
  }
  EXPECT_GT(seen.size(), 40U);
  EXPECT_TRUE(seen.contains("/tuning_runs/#/candidates/#/config"));
}

}  // namespace
}  // namespace overlaptune
