#include <set>
#include <sstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "samples.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;
using samples::Folder;

class JsonTest : public testing::Test {
 protected:
  JsonTest() { samples::fill(store_, 6, 50); }

  std::string exported() const {
    std::ostringstream out;
    export_json(store_, out);
    return out.str();
  }

  /// Imports into an empty database, which must stay so; the message.
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

  Folder folder_;
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
  const auto& candidate = document["tuning_runs"][0]["candidates"][0];
  EXPECT_TRUE(candidate.contains("predicted_us"));
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
      {json::json_pointer("/format_version"), 2, "format_version: newer"},
      {json::json_pointer("/platforms"), 3, "platforms: expected an array"},
      {json::json_pointer("/platforms/1/sms"), -1, "platforms[1].sms: expected an integer"},
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
      {first_candidate / "config" / "strategy", "magic", "candidates[3].config.strategy: "},
      {first_candidate / "config" / "chunks", 0, "candidates[3]: chunks is 0"},
      {first_candidate / "config" / "wave_groups", json::array({5, 0}),
       "candidates[3].config.wave_groups[1]: "},
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

TEST_F(JsonTest, AnExportFromBeforeConfigsHadAWaitIsTaken) {
  json document = json::parse(exported());
  int erased = 0;
  const auto erase = [&](json& candidate) { erased += candidate["config"].erase("wait") == 1; };
  for (json& run : document["tuning_runs"]) {
    for (json& candidate : run["candidates"]) erase(candidate);
  }
  for (json& winner : document["winners"]) erase(winner["candidate"]);
  std::istringstream in(document.dump());
  ASSERT_TRUE(import_json(target_, in));
  auto expected = samples::content(store_);
  EXPECT_EQ(erased, static_cast<int>(expected.candidates.size() + expected.winners.size()));
  for (Candidate& candidate : expected.candidates) candidate.config.wait = Wait::driver;
  for (Winner& winner : expected.winners) winner.candidate.config.wait = Wait::driver;
  EXPECT_EQ(samples::content(target_), expected);
}

TEST_F(JsonTest, EveryMissingFieldIsRefused) {
  json document = json::parse(exported());
  const auto flat = document.flatten();
  std::set<std::string> seen;
  for (const auto& [path, value] : flat.items()) {
    // One of each kind of place is enough.
    std::string kind;
    for (const char c : path) kind += c >= '0' && c <= '9' ? '#' : c;
    if (!seen.insert(kind).second || path.find("wave_groups") != path.npos) continue;
    // Younger than the format.
    if (path.ends_with("/overlap_fraction") || path.ends_with("/config/wait")) continue;
    json::json_pointer pointer(path);
    if (pointer.back().find_first_not_of("0123456789") == std::string::npos) continue;
    json changed = document;
    changed[pointer.parent_pointer()].erase(pointer.back());
    EXPECT_FALSE(refused(changed.dump()).empty()) << path;
  }
  EXPECT_GT(seen.size(), 50U);
}

}  // namespace
}  // namespace overlaptune
