// Databases of older versions: readable as they are, brought up to date when written.

#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "db/schema.hpp"
#include "processes.hpp"
#include "samples.hpp"

namespace overlaptune {
namespace {

using samples::Folder;

/// The columns of a winner that all versions have, except for its config: in version 1, and later.
constexpr const char* kWinnersInVersion1 =
    "SELECT w.platform_id, op, m, n, k, dtype, ranks, w.launch, c.run_id, validated_at, strategy, "
    "origin, rank_by_model, predicted_us, reason, measured_median_us, measured_p10_us, "
    "measured_p90_us, measured_count, speedup_median, speedup_p10, speedup_p90, sm_clock_mhz, "
    "power_w, sequential_us, gemm_alone_us, collective_alone_us FROM winners w, problems p, "
    "candidates c WHERE p.id = w.problem_id AND c.id = w.candidate_id "
    "ORDER BY 1, 2, 3, 4, 5, 6, 7, 8";
constexpr const char* kWinners =
    "SELECT platform_id, op, m, n, k, dtype, ranks, launch, run_id, validated_at, strategy, "
    "origin, rank_by_model, predicted_us, reason, measured_median_us, measured_p10_us, "
    "measured_p90_us, measured_count, speedup_median, speedup_p10, speedup_p90, sm_clock_mhz, "
    "power_w, sequential_us, gemm_alone_us, collective_alone_us FROM winners "
    "ORDER BY 1, 2, 3, 4, 5, 6, 7, 8";
constexpr const char* kCandidates =
    "SELECT id, run_id, problem_id, launch, strategy, origin, rank_by_model, predicted_us, "
    "verdict, reason, measured_median_us, measured_p10_us, measured_p90_us, measured_count, "
    "speedup_median, speedup_p10, speedup_p90, sm_clock_mhz, power_w FROM candidates ORDER BY id";
constexpr const char* kWinningConfigs =
    "SELECT config FROM winners ORDER BY platform_id, op, m, n, k, dtype, ranks, launch";

// Most configs of the dumps were drawn at random when a config was one struct: no program ever ran
// them. Migration keeps their text without a message; an error tells those who read them.

/// The configs of the winners in the dumps of versions 1 to 3.
const std::vector<std::string> kConfigs{
    "peer_store ctas=28 transport=symmetric chunks=4 groups=1260,2832,3113,4543|",
    "copy_engine tile=192x248x64 stages=7 cluster=1 raster=16 ctas=10 transport=symmetric "
    "chunks=10 groups=419,3315,298,2521|",
    "sequential tile=128x152x64 stages=5 cluster=2 raster=11 ctas=24 transport=ring chunks=14 "
    "groups=1188,4515,2313|",
    "copy_engine tile=64x96x64 stages=7 cluster=1 raster=9 ctas=6 transport=ring chunks=11 "
    "groups=1810|",
    "copy_engine ctas=2 transport=symmetric chunks=4 groups=4058,3362,1973,3781|",
    "sequential tile=128x96x64 stages=3 cluster=1 raster=2 ctas=24 transport=symmetric chunks=5 "
    "groups=3981,1486|"};

/// A config of the run that v4.sql adds. If it is wrong, the error that it gives as a candidate,
/// and as the winner of its problem. The n-th has m = 512 n.
struct MadeUp {
  std::string line;
  std::string wrong{};
  std::string wrong_winner = wrong;
};
const std::string kTile = "signaled tile=128x256x64 stages=4 cluster=";
const std::string kNoStrategy =
    "expected one of sequential, chunked, signaled, waiting, peer_store";
/// The first `peer_store` was another one: no program ever ran it.
const std::string kNoGroups = "groups: missing: peer_store needs";
const std::string kNoTransport =
    "transport = 'symmetric_then_ring': expected one of ring, symmetric";
const std::vector<MadeUp> kEveryConfig{
    {"sequential ctas=0 transport=ring"},
    {"sequential ctas=0 transport=symmetric"},
    {"sequential ctas=0 transport=copy_engine"},
    {"sequential ctas=0 transport=symmetric_then_ring", kNoTransport},
    {"sequential ctas=0 transport=peer_access", "ctas = 0: expected 1 or more by peer_access"},
    {"chunked ctas=6 transport=ring chunks=6"},
    {"chunked ctas=7 transport=symmetric chunks=7"},
    {"chunked ctas=8 transport=copy_engine chunks=8", "chunked has no such transport"},
    {"chunked ctas=9 transport=symmetric_then_ring chunks=9", kNoTransport},
    {"chunked ctas=10 transport=peer_access chunks=10", "chunked has no such transport"},
    {kTile + "2 raster=11 ctas=11 transport=ring groups=96", "", "group 0 ends after tile 96"},
    {kTile + "1 raster=12 ctas=12 transport=symmetric groups=96,97", "",
     "group 1 ends after tile 193"},
    {kTile + "2 raster=13 ctas=13 transport=copy_engine groups=96,97,98", "",
     "group 0 ends after tile 96"},
    {kTile + "1 raster=14 ctas=14 transport=symmetric_then_ring groups=96,97,98,99", "",
     "group 0 ends after tile 96"},
    {kTile + "2 raster=15 ctas=15 transport=peer_access groups=96,97,98,99,100", "",
     "group 0 ends after tile 96"},
    {"peer_store tile=128x256x64 stages=4 cluster=1 raster=16 ctas=16 transport=ring", kNoGroups},
    {"peer_store tile=128x256x64 stages=4 cluster=2 raster=17 ctas=17 transport=symmetric",
     kNoGroups},
    {"peer_store tile=128x256x64 stages=4 cluster=1 raster=18 ctas=18 transport=copy_engine",
     kNoGroups},
    {"peer_store tile=128x256x64 stages=4 cluster=2 raster=19 ctas=19 "
     "transport=symmetric_then_ring",
     kNoGroups},
    {"peer_store tile=128x256x64 stages=4 cluster=1 raster=20 ctas=20 transport=peer_access",
     kNoGroups},
    {"copy_engine ctas=21 transport=ring chunks=21 groups=1099511627797,1", kNoStrategy},
    {"copy_engine ctas=22 transport=symmetric chunks=22", kNoStrategy},
    {"copy_engine ctas=23 transport=copy_engine chunks=23 groups=1099511627799,1", kNoStrategy},
    {"copy_engine ctas=24 transport=symmetric_then_ring chunks=24", kNoStrategy},
    {"copy_engine ctas=25 transport=peer_access chunks=25 groups=1099511627801,1", kNoStrategy}};

/// The lines of these configs, as `rows` gives them.
std::vector<std::string> every_line() {
  std::vector<std::string> lines;
  for (const MadeUp& config : kEveryConfig) lines.push_back(config.line + "|");
  return lines;
}

/// All rows as text, read by SQLite alone.
std::vector<std::string> rows(const std::filesystem::path& file, const std::string& sql) {
  const SQLite::Database database(file.string());
  SQLite::Statement statement(database, sql);
  std::vector<std::string> all;
  while (statement.executeStep()) {
    std::string row;
    for (int i = 0; i < statement.getColumnCount(); ++i) {
      row += statement.getColumn(i).getString() + "|";
    }
    all.push_back(row);
  }
  return all;
}

/// Makes the database that was dumped in this version.
std::filesystem::path restored(const Folder& folder, const std::string& version,
                               const std::string& before = "", const std::string& name = "dump-") {
  std::ifstream in(std::string(OVERLAPTUNE_TEST_DATA) + "/db/" + version + ".sql");
  std::stringstream script;
  script << before << in.rdbuf();
  auto file = folder / (name + version + ".db");
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(script.str());
  return file;
}

/// Columns that version 8 added to measurements, empty for what was measured before.
const std::string kNoPeers = "|||";

/// A config as versions 1 to 4 stored it: as columns, and without `wait`, because the driver always
/// waited.
std::string columns_of(const Config& config) {
  const Tile tile = tile_of(config);
  const auto* const chunked = std::get_if<Chunked>(&config);
  const auto* const signaled = std::get_if<Signaled>(&config);
  std::string groups;
  for (const std::int64_t group : wave_groups_of(config)) {
    groups += (groups.empty() ? "" : ",") + std::to_string(group);
  }
  return fmt::format(
      "strategy = '{}', block_m = {}, block_n = {}, block_k = {}, stages = {}, cluster = {}, "
      "raster = {}, comm_ctas = {}, wave_groups = '{}', chunks = {}, transport = '{}'",
      to_string(strategy_of(config)), tile.block_m, tile.block_n, tile.block_k, tile.stages,
      tile.cluster, signaled != nullptr ? signaled->raster : 0, comm_ctas(config), groups,
      chunked != nullptr ? chunked->chunks : 1,
      signaled != nullptr ? to_string(signaled->transport) : to_string(transport_of(config)));
}

/// The database of an old version with legal configs, as programs of that version stored them.
struct Measured {
  std::filesystem::path file;
  std::vector<Config> candidates;  ///< by id
  std::vector<Config> winners;     ///< by platform, problem and launch
};

Measured measured(const Folder& folder, const std::string& version,
                  const std::string& before = "") {
  Measured made{.file = restored(folder, version, before, "measured-")};
  SQLite::Database database(made.file.string(), SQLite::OPEN_READWRITE);
  SQLite::Transaction transaction(database);  // one wait for the disk
  // The spread of speedups was drawn at random too. A winner is one of the candidates of its run.
  for (const char* table : {"candidates", "winners"}) {
    if (version == "v1" && table == std::string("winners")) continue;
    database.exec(
        fmt::format("UPDATE {} SET speedup_p10 = speedup_median / 2, speedup_p90 = "
                    "speedup_median * 2",
                    table));
  }
  samples::Generator draw(7);
  // Gives each row of the query a config of its problem.
  const auto change = [&](const std::string& table, const std::string& select) {
    std::vector<Config> configs;
    std::vector<std::string> updates;
    SQLite::Statement query(database, select);
    while (query.executeStep()) {
      const auto number = [&](const char* column) { return query.getColumn(column).getInt64(); };
      const auto text = [&](const char* column) { return query.getColumn(column).getString(); };
      const Problem problem{value_or_throw(parse_name<Op>(text("op"))),
                            number("m"),
                            number("n"),
                            number("k"),
                            value_or_throw(parse_name<Elements>(text("dtype"))),
                            static_cast<int>(number("ranks"))};
      Config config = draw.config(problem);
      // Databases of before had neither of the two.
      while (version < "v5" && (std::holds_alternative<Waiting>(config) ||
                                std::holds_alternative<PeerStore>(config))) {
        config = draw.config(problem);
      }
      auto* const signaled = std::get_if<Signaled>(&config);
      if (signaled != nullptr && version < "v5") signaled->wait = Wait::driver;
      const std::string stored =
          version >= "v5" ? "config = '" + to_string(config) + "'" : columns_of(config);
      updates.push_back("UPDATE " + table + " SET " + stored + " WHERE " + text("key"));
      configs.push_back(std::move(config));
    }
    for (const std::string& update : updates) EXPECT_EQ(database.exec(update), 1) << update;
    return configs;
  };
  made.candidates =
      change("candidates",
             "SELECT 'id = ' || c.id AS key, p.* FROM candidates c JOIN problems p ON "
             "p.id = problem_id ORDER BY c.id");
  if (version == "v1") {
    SQLite::Statement ids(database,
                          "SELECT candidate_id FROM winners w JOIN problems p ON p.id = problem_id "
                          "ORDER BY platform_id, op, m, n, k, dtype, ranks, launch");
    while (ids.executeStep()) {
      made.winners.push_back(made.candidates.at(ids.getColumn(0).getUInt() - 1));
    }
  } else {
    const std::string columns =
        version >= "v5" ? "config"
                        : "strategy, block_m, block_n, block_k, stages, cluster, raster, "
                          "comm_ctas, wave_groups, chunks, transport";
    const std::string of_its_candidate =
        "FROM candidates c JOIN problems p ON p.id = problem_id WHERE (c.run_id, c.launch, p.op, "
        "p.m, p.n, p.k) = (w.run_id, w.launch, w.op, w.m, w.n, w.k)";
    database.exec(
        fmt::format("UPDATE winners AS w SET ({0}) = (SELECT {0} {1})", columns, of_its_candidate));
    SQLite::Statement ids(database, "SELECT (SELECT c.id " + of_its_candidate +
                                        ") FROM winners w ORDER BY platform_id, op, m, n, k, "
                                        "dtype, ranks, launch");
    while (ids.executeStep()) {
      made.winners.push_back(made.candidates.at(ids.getColumn(0).getUInt() - 1));
    }
  }
  transaction.commit();
  return made;
}

/// The brief winners of all platforms, which must be those that are stored.
std::vector<Config> brief_configs(const Store& store) {
  std::vector<Config> configs;
  for (const StoredPlatform& platform : store.platforms()) {
    store.each_brief_winner(platform.id, [&](const BriefWinner& winner) {
      const auto stored = store.winner(platform.id, winner.problem, winner.launch);
      ASSERT_TRUE(stored);
      EXPECT_EQ(winner.config, stored->winner.candidate.config);
      EXPECT_EQ(std::string(winner.validated_at.begin(), winner.validated_at.end()),
                stored->validated_at);
      configs.push_back(winner.config);
    });
  }
  return configs;
}

std::vector<std::string> lines_of(const std::vector<Config>& configs) {
  std::vector<std::string> lines;
  for (const Config& config : configs) lines.push_back(to_string(config) + "|");
  return lines;
}

class MigrationTest : public testing::Test {
 protected:
  Folder folder_;
  std::filesystem::path file_ = restored(folder_, "v1");
};

TEST_F(MigrationTest, AVersion1DatabaseIsReadWithoutAByteChanged) {
  const auto file = measured(folder_, "v1").file;
  const std::string bytes = samples::read_bytes(file);
  const auto winners = rows(file, kWinnersInVersion1).size();
  {
    const Store store(file, Access::read);
    EXPECT_EQ(store.info().schema_version, 1);
    EXPECT_EQ(store.winners().size(), winners);
    EXPECT_EQ(store.info().candidates, 30);
    const auto first = store.winners().front();
    const auto& candidate = first.winner.candidate;
    const auto asked = store.winner(first.platform, candidate.problem, candidate.launch);
    ASSERT_TRUE(asked);
    EXPECT_EQ(asked->winner, first.winner);
    EXPECT_TRUE(store.check().empty());
  }
  EXPECT_EQ(samples::read_bytes(file), bytes);
}

TEST_F(MigrationTest, WhatWasMeasuredReadsBackTheSameFromEveryVersion) {
  for (const std::string version : {"v1", "v2", "v3", "v4", "v5", "v6"}) {
    const Measured old = measured(folder_, version);
    std::set<Strategy> strategies;
    for (const Config& config : old.candidates) strategies.insert(strategy_of(config));
    EXPECT_EQ(strategies.size() + (version < "v5" ? 2 : 0), NamesOf<Strategy>::all.size());
    const auto as_read = samples::content(Store(old.file, Access::read));
    ASSERT_EQ(as_read.candidates.size(), old.candidates.size()) << version;
    for (std::size_t i = 0; i < old.candidates.size(); ++i) {
      EXPECT_EQ(as_read.candidates[i].config, old.candidates[i]) << version;
    }
    ASSERT_EQ(as_read.winners.size(), old.winners.size()) << version;
    for (std::size_t i = 0; i < old.winners.size(); ++i) {
      EXPECT_EQ(as_read.winners[i].candidate.config, old.winners[i]) << version;
      if (version < "v4") {
        EXPECT_FALSE(as_read.winners[i].overlap_fraction);
      }
    }
    {
      const Store store(old.file, Access::write);
      EXPECT_EQ(store.info().schema_version, db::kSchemaVersion);
      EXPECT_TRUE(store.check().empty()) << store.check().front();
      EXPECT_EQ(samples::content(store), as_read) << version;
      EXPECT_EQ(brief_configs(store), old.winners);
      std::stringstream document;
      export_json(store, document);
      Store copy(folder_ / (version + "-copy.db"), Access::create);
      const auto outcome = import_json(copy, document);
      ASSERT_TRUE(outcome) << outcome.error().message;
      EXPECT_EQ(samples::content(copy), as_read) << version;
    }
    EXPECT_EQ(rows(old.file, "SELECT config FROM candidates ORDER BY id"),
              lines_of(old.candidates));
    EXPECT_EQ(rows(old.file, kWinningConfigs), lines_of(old.winners));
  }
}

TEST_F(MigrationTest, AVersion1DatabaseHoldsTheSameAfterItIsWritten) {
  const auto winners = rows(file_, kWinnersInVersion1);
  ASSERT_EQ(winners.size(), 6U);
  const auto candidates = rows(file_, kCandidates);
  ASSERT_EQ(candidates.size(), 30U);
  std::map<std::string, std::vector<std::string>> before;
  for (const char* table :
       {"platforms", "provenance", "probe_runs", "measurements", "problems", "tuning_runs"}) {
    before[table] = rows(file_, std::string("SELECT * FROM ") + table);
    EXPECT_FALSE(before[table].empty()) << table;
  }
  EXPECT_EQ(Store(file_, Access::write).info().schema_version, db::kSchemaVersion);
  EXPECT_EQ(rows(file_, kWinners), winners);
  EXPECT_EQ(rows(file_, kWinningConfigs), kConfigs);
  EXPECT_EQ(rows(file_, kCandidates), candidates);
  EXPECT_EQ(rows(file_, "SELECT count(overlap_fraction) FROM winners").front(), "0|");
  // Version 3 added the library's tile, unknown for what was measured before.
  for (std::string& row : before["measurements"]) row += "|||||" + kNoPeers;
  for (const auto& [table, content] : before) {
    EXPECT_EQ(rows(file_, "SELECT * FROM " + table), content) << table;
  }
  EXPECT_EQ(rows(file_, "PRAGMA user_version"),
            std::vector{std::to_string(db::kSchemaVersion) + "|"});
}

TEST_F(MigrationTest, AVersion2DatabaseHoldsTheSameAfterItIsWritten) {
  const auto file = restored(folder_, "v2");
  const auto winners = rows(file_, kWinnersInVersion1);
  EXPECT_EQ(rows(file, kWinners), winners);
  for (const auto& each : {file, file_}) {
    EXPECT_EQ(Store(each, Access::write).info().schema_version, db::kSchemaVersion);
  }
  EXPECT_EQ(rows(file, kWinners), winners);
  for (const char* table : {"candidates", "winners", "measurements"}) {
    EXPECT_EQ(rows(file, std::string("SELECT * FROM ") + table),
              rows(file_, std::string("SELECT * FROM ") + table));
  }
}

/// SQLite converts texts of another encoding when they are read, and leaves them in the file.
TEST_F(MigrationTest, TextsOfAnotherEncodingAreTheSame) {
  const Measured old = measured(folder_, "v3", "PRAGMA encoding = 'UTF-16';");
  ASSERT_EQ(rows(old.file, "PRAGMA encoding").front(), "UTF-16le|");
  const Store store(old.file, Access::write);
  EXPECT_GE(old.winners.size(), 3U);
  EXPECT_EQ(brief_configs(store), old.winners);
}

TEST_F(MigrationTest, AVersion3DatabaseHoldsTheSameAfterItIsWritten) {
  const auto file = restored(folder_, "v3");
  const auto winners = rows(file, kWinners);
  ASSERT_EQ(winners.size(), 6U);
  auto measurements = rows(file, "SELECT * FROM measurements");
  EXPECT_EQ(Store(file, Access::read).info().schema_version, 3);
  EXPECT_EQ(Store(file, Access::write).info().schema_version, db::kSchemaVersion);
  for (std::string& row : measurements) row += kNoPeers;
  EXPECT_EQ(rows(file, "SELECT * FROM measurements"), measurements);
  EXPECT_EQ(rows(file, "SELECT count(*) FROM measurements WHERE library_block_m > 0").front(),
            "3|");
  EXPECT_EQ(rows(file, kWinners), winners);
  EXPECT_EQ(rows(file, kWinningConfigs), kConfigs);
  EXPECT_EQ(rows(file, "SELECT count(overlap_fraction) FROM winners").front(), "0|");
}

TEST_F(MigrationTest, AVersion4DatabaseHoldsTheSameAfterItIsWritten) {
  const auto file = restored(folder_, "v4");
  const auto winners = rows(file, kWinners);
  ASSERT_EQ(winners.size(), 31U);
  const auto candidates = rows(file, kCandidates);
  ASSERT_EQ(candidates.size(), 55U);
  const std::string fractions =
      "SELECT platform_id, op, m, launch, overlap_fraction FROM winners ORDER BY 1, 2, 3, 4";
  const auto overlaps = rows(file, fractions);
  EXPECT_EQ(Store(file, Access::write).info().schema_version, db::kSchemaVersion);
  EXPECT_EQ(rows(file, kWinners), winners);
  EXPECT_EQ(rows(file, kCandidates), candidates);
  EXPECT_EQ(rows(file, fractions), overlaps);
  EXPECT_EQ(rows(file, "SELECT config FROM winners WHERE run_id = 3 ORDER BY m"), every_line());
  EXPECT_EQ(rows(file,
                 "SELECT config FROM candidates JOIN problems ON problems.id = problem_id WHERE "
                 "run_id = 3 ORDER BY m"),
            every_line());
}

/// The problem and launch of the run that v4.sql adds, by the number of its config.
Candidate key_of(const std::filesystem::path& file, std::size_t index) {
  SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
  SQLite::Statement query(database,
                          "SELECT op, ranks, launch FROM candidates JOIN problems ON problems.id = "
                          "problem_id WHERE run_id = 3 AND m = ?");
  const auto m = static_cast<std::int64_t>(512 * (index + 1));
  query.bind(1, m);
  EXPECT_TRUE(query.executeStep());
  return {.problem = {value_or_throw(parse_name<Op>(query.getColumn(0).getString())), m, 8192, 1024,
                      Elements::bf16, query.getColumn(1).getInt()},
          .launch = value_or_throw(parse_name<Launch>(query.getColumn(2).getString()))};
}

/// Removes the first finding that contains `said`. Returns whether there was one.
bool take_finding(std::vector<std::string>& findings, const std::string& said) {
  const auto found = std::find_if(findings.begin(), findings.end(), [&](const std::string& each) {
    return each.find(said) != each.npos;
  });
  if (found == findings.end()) return false;
  findings.erase(found);
  return true;
}

TEST_F(MigrationTest, ConfigsThatNoProgramRanAreToldAndNotServed) {
  const auto file = restored(folder_, "v4");
  for (const Access access : {Access::read, Access::write}) {
    const Store store(file, access);
    auto findings = store.check();
    for (std::size_t i = 0; i < kEveryConfig.size(); ++i) {
      const auto& [line, wrong, wrong_winner] = kEveryConfig[i];
      const Candidate key = key_of(file, i);
      const auto candidates = [&] { return store.candidates(3, key.problem, key.launch); };
      const auto winner = [&] { return store.winner(1, key.problem, key.launch); };
      if (wrong.empty()) {
        const auto found = candidates();
        ASSERT_EQ(found.size(), 1U) << line;
        EXPECT_EQ(to_string(found[0].config), line);
        EXPECT_EQ(parse_config(line), found[0].config);
      } else {
        EXPECT_NE(samples::failure(ErrorKind::bad_database, candidates).find(wrong),
                  std::string::npos)
            << line;
        EXPECT_TRUE(take_finding(findings, wrong)) << line;
      }
      if (wrong_winner.empty()) {
        ASSERT_TRUE(winner()) << line;
        EXPECT_EQ(to_string(winner()->winner.candidate.config), line);
        EXPECT_EQ(winner()->run, 3);
      } else {
        EXPECT_NE(samples::failure(ErrorKind::bad_database, winner).find(wrong_winner),
                  std::string::npos)
            << line;
        EXPECT_TRUE(take_finding(findings, wrong_winner)) << line;
      }
    }
    // The rows left are the 30 candidates and 6 winners that were drawn at random.
    EXPECT_EQ(findings.size(), 36U);
    for (const std::string& finding : findings) {
      EXPECT_NE(finding.find("damaged row (config: "), std::string::npos) << finding;
    }
    std::ostringstream out;
    samples::failure(ErrorKind::bad_database, [&] { export_json(store, out); });
    samples::failure(ErrorKind::bad_database, [&] { (void)brief_configs(store); });
  }
}

TEST_F(MigrationTest, WithoutThemTheRestIsServed) {
  const auto file = restored(folder_, "v4");
  { const Store migrated(file, Access::write); }
  std::vector<std::string> legal_candidates;
  std::vector<std::string> legal_winners;
  {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    database.exec(
        "DELETE FROM winners WHERE run_id <> 3; DELETE FROM candidates WHERE run_id <> 3");
    for (const auto& [line, wrong, wrong_winner] : kEveryConfig) {
      if (wrong.empty()) {
        legal_candidates.push_back(line + "|");
      } else {
        database.exec("DELETE FROM candidates WHERE config = '" + line + "'");
      }
      if (wrong_winner.empty()) {
        legal_winners.push_back(line + "|");
      } else {
        database.exec("DELETE FROM winners WHERE config = '" + line + "'");
      }
    }
  }
  EXPECT_EQ(legal_candidates.size(), 10U);
  EXPECT_EQ(legal_winners.size(), 5U);
  const Store store(file, Access::read);
  for (const std::string& finding : store.check()) {  // only that some are gone
    EXPECT_NE(finding.find("were stored"), finding.npos) << finding;
  }
  std::vector<Config> candidates;
  for (const auto& stored : store.all_candidates()) candidates.push_back(stored.candidate.config);
  EXPECT_EQ(lines_of(candidates), legal_candidates);
  EXPECT_EQ(brief_configs(store).size(), legal_winners.size());
  std::stringstream document;
  export_json(store, document);
  Store copy(folder_ / "copy.db", Access::create);
  ASSERT_TRUE(import_json(copy, document));
  EXPECT_EQ(samples::content(copy), samples::content(store));
}

TEST_F(MigrationTest, AVersion5Or6DatabaseHoldsTheSameAfterItIsWritten) {
  for (const std::string version : {"v5", "v6"}) {
    const auto file = measured(folder_, version).file;
    std::map<std::string, std::vector<std::string>> before;
    for (const std::string sql :
         {"SELECT * FROM platforms", "SELECT * FROM provenance", "SELECT * FROM probe_runs",
          "SELECT * FROM measurements", "SELECT * FROM problems", "SELECT * FROM tuning_runs",
          kCandidates, "SELECT config FROM candidates ORDER BY id", kWinners, kWinningConfigs,
          "SELECT m, k, overlap_fraction FROM winners ORDER BY 1, 2"}) {
      before[sql] = rows(file, sql);
      EXPECT_FALSE(before[sql].empty()) << sql;
    }
    ASSERT_EQ(before[kWinners].size(), 33U);
    const auto as_read = samples::content(Store(file, Access::read));
    EXPECT_EQ("v" + std::to_string(Store(file, Access::read).info().schema_version), version);
    const Store store(file, Access::write);
    EXPECT_EQ(store.info().schema_version, db::kSchemaVersion);
    EXPECT_TRUE(store.check().empty()) << store.check().front();
    EXPECT_EQ(samples::content(store), as_read);
    for (std::string& row : before["SELECT * FROM measurements"]) row += kNoPeers;
    for (const auto& [sql, content] : before) EXPECT_EQ(rows(file, sql), content) << sql;
    EXPECT_EQ(store.info().layer_gemms, version == "v5" ? 0 : 3);
  }
}

/// Seals stay as they are, and measurements get columns for copies between two GPUs.
TEST_F(MigrationTest, AVersion7DatabaseHoldsTheSameAfterItIsWritten) {
  const auto file = restored(folder_, "v7");
  std::map<std::string, std::vector<std::string>> before;
  for (const char* table : {"platforms", "provenance", "probe_runs", "measurements", "problems",
                            "tuning_runs", "candidates", "winners"}) {
    before[table] = rows(file, std::string("SELECT * FROM ") + table);
    EXPECT_FALSE(before[table].empty()) << table;
  }
  const auto as_read = samples::content(Store(file, Access::read));
  EXPECT_EQ(Store(file, Access::read).info().schema_version, 7);
  Store store(file, Access::write);
  EXPECT_EQ(store.info().schema_version, db::kSchemaVersion);
  EXPECT_TRUE(store.check().empty()) << store.check().front();
  EXPECT_EQ(samples::content(store), as_read);
  for (std::string& row : before["measurements"]) row += kNoPeers;
  for (const auto& [table, content] : before) {
    EXPECT_EQ(rows(file, "SELECT * FROM " + table), content) << table;
  }
  const ProbeRunId run = store.begin_probe_run(store.platforms().front().id, {});
  const Measurement copy{.probe = PeerProbe{{4096}, 3, 1}, .time = {us(5), us(4), us(6), 9}};
  store.add_measurement(run, copy);
  const auto measured = store.measurements(store.platforms().front().id);
  EXPECT_EQ(std::count(measured.begin(), measured.end(), copy), 1);
}

/// The rows stay as they are, and are counted.
TEST_F(MigrationTest, AVersion8DatabaseHoldsTheSameAfterItIsWritten) {
  const auto file = restored(folder_, "v8");
  std::map<std::string, std::vector<std::string>> before;
  for (const char* table : {"platforms", "provenance", "probe_runs", "measurements", "problems",
                            "tuning_runs", "candidates", "winners"}) {
    before[table] = rows(file, std::string("SELECT * FROM ") + table);
    EXPECT_FALSE(before[table].empty()) << table;
  }
  const auto as_read = samples::content(Store(file, Access::read));
  EXPECT_EQ(Store(file, Access::read).info().schema_version, 8);
  Store store(file, Access::write);
  EXPECT_TRUE(store.check().empty()) << store.check().front();
  EXPECT_EQ(samples::content(store), as_read);
  for (const auto& [table, content] : before) {
    EXPECT_EQ(rows(file, "SELECT * FROM " + table), content) << table;
  }
  for (const std::string table : {"candidates", "winners"}) {
    EXPECT_EQ(rows(file, "SELECT rows, sum FROM tallies WHERE name = '" + table + "'"),
              rows(file,
                   "SELECT count(*), sum(seal % 1099511627776 + iif(seal < 0 AND seal % "
                   "1099511627776 <> 0, 1099511627776, 0)) FROM " +
                       table));
  }
}

/// What is known to be wrong is not sealed as if it were right.
TEST_F(MigrationTest, RowsThatWereDamagedBeforeThereWereSealsGetNone) {
  const auto file = measured(folder_, "v6").file;
  {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    database.exec(
        "UPDATE winners SET measured_median_us = measured_median_us / 64 WHERE m = 512;"
        "UPDATE winners SET predicted_us = 1e40 WHERE m = 1024;"
        "UPDATE winners SET config = 'sequential ctas=7 transport=ring' WHERE m = 1536;"
        "UPDATE candidates SET measured_p10_us = measured_p90_us + 1 WHERE problem_id = "
        "(SELECT id FROM problems WHERE m = 2048)");
  }
  for (const Access access : {Access::read, Access::write}) {
    const Store store(file, access);
    const auto damaged = store.check();
    EXPECT_EQ(damaged.size(), 4U) << damaged.front();
    int answered = 0;
    int refused = 0;
    store.each_brief_winner(
        1,
        [&](const BriefWinner& winner) {
          ++answered;
          EXPECT_TRUE(winner.problem.m < 512 || winner.problem.m > 1536) << winner.problem.m;
        },
        [&](const DamagedWinner& winner) {
          ++refused;
          EXPECT_TRUE(winner.problem.m >= 512 && winner.problem.m <= 1536) << winner.problem.m;
        });
    EXPECT_EQ(refused, 3);
    EXPECT_EQ(answered, 27);
  }
}

TEST_F(MigrationTest, AMigratedDatabaseTakesWhatIsNew) {
  Store store(measured(folder_, "v3").file, Access::write);
  StoredWinner stored = store.winners().front();
  stored.winner.overlap_fraction = 0.625;
  stored.winner.candidate.problem = {Op::gemm_all_reduce, 4096, 8192, 1024, Elements::bf16, 4};
  stored.winner.candidate.config = Signaled{.tile = {128, 256, 64, 4, 2},
                                            .raster = 8,
                                            .comm_ctas = 16,
                                            .wait = Wait::kernel,
                                            .wave_groups = {928, 96}};
  store.put_winner(stored.run, stored.winner);
  const Candidate& candidate = stored.winner.candidate;
  EXPECT_EQ(store.winner(stored.platform, candidate.problem, candidate.launch)->winner,
            stored.winner);
  const LayerGemm gemm{.model = "llama-3-70b",
                       .product = Product::down,
                       .tokens = candidate.problem.m,
                       .times_per_pass = 80,
                       .problem = candidate.problem};
  store.add_layer_gemms(stored.run, std::vector{gemm});
  EXPECT_EQ(store.layer_gemms(stored.platform), std::vector{gemm});
}

TEST_F(MigrationTest, ADamagedFileThatCannotBeCopiedIsNotCalledAFullDisk) {
  std::string bytes = samples::read_bytes(file_);
  bytes[52] = 0x40;  // as if pages could be moved: SQLite then looks for a map that is not there
  samples::write_bytes(file_, bytes);
  samples::failure(ErrorKind::bad_database, [&] { const Store store(file_, Access::read); });
}

TEST_F(MigrationTest, AMigratedDatabaseIsOneThatWasMadeNew) {
  { const Store migrated(file_, Access::write); }
  { const Store made(folder_ / "new.db", Access::create); }
  const std::string schema = "SELECT type, name, sql FROM sqlite_schema ORDER BY type, name";
  EXPECT_EQ(rows(file_, schema), rows(folder_ / "new.db", schema));
  EXPECT_EQ(rows(file_, "PRAGMA application_id"),
            rows(folder_ / "new.db", "PRAGMA application_id"));
}

TEST_F(MigrationTest, AMigrationThatIsKilledHasHappenedOrNot) {
  file_ = measured(folder_, "v1").file;
  const std::string bytes = samples::read_bytes(file_);
  const auto expected = samples::content(Store(file_, Access::read));
  for (int moment = 0; moment < 20; ++moment) {
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(file_.string() + suffix);
    samples::write_bytes(file_, bytes);
    samples::Child child([&] {
      const Store store(file_, Access::write);
      return 0;
    });
    usleep(static_cast<useconds_t>(moment) * 400);
    child.kill_it();
    const Store store(file_, Access::write);
    EXPECT_EQ(samples::content(store), expected) << moment;
    EXPECT_TRUE(store.check().empty()) << moment;
  }
}

TEST_F(MigrationTest, SeveralProcessesMayMigrateAtOnce) {
  const auto open = [&] {
    const Store store(file_, Access::write);
    return static_cast<int>(store.info().winners);
  };
  samples::Child first(open);
  samples::Child second(open);
  samples::Child third(open);
  EXPECT_EQ(first.wait(), 6);
  EXPECT_EQ(second.wait(), 6);
  EXPECT_EQ(third.wait(), 6);
}

TEST_F(MigrationTest, TheDigestOfEveryVersionIsKnown) {
  for (int version = 1; version <= db::kSchemaVersion; ++version) {
    db::Connection memory(":memory:", ":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db::migrate(memory, version);
    EXPECT_EQ(db::schema_digest(memory), db::known_digest(version)) << version;
    memory.execute("DROP INDEX tuning_runs_of_platform");
    EXPECT_NE(db::schema_digest(memory), db::known_digest(version)) << version;
  }
}

}  // namespace
}  // namespace overlaptune
