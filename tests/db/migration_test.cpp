// Databases of older versions: readable as they are, brought up to date when written.

#include <fstream>
#include <map>
#include <sstream>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "db/schema.hpp"
#include "processes.hpp"
#include "samples.hpp"

namespace overlaptune {
namespace {

using samples::Folder;

/// Of a winner what all versions have as columns, but for the config: in version 1, and later.
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

/// Of the winners of versions 1 to 3, whose columns are those of v3.sql.
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

/// Of the run that v4.sql adds, by m, which is 512 for the first and so on.
const std::vector<std::string> kEveryConfig{
    "sequential ctas=0 transport=ring|",
    "sequential ctas=0 transport=symmetric|",
    "sequential ctas=0 transport=copy_engine|",
    "sequential ctas=0 transport=symmetric_then_ring|",
    "sequential ctas=0 transport=peer_access|",
    "chunked ctas=6 transport=ring chunks=6|",
    "chunked ctas=7 transport=symmetric chunks=7|",
    "chunked ctas=8 transport=copy_engine chunks=8|",
    "chunked ctas=9 transport=symmetric_then_ring chunks=9|",
    "chunked ctas=10 transport=peer_access chunks=10|",
    "signaled tile=128x256x64 stages=4 cluster=2 raster=11 ctas=11 transport=ring groups=96|",
    "signaled tile=128x256x64 stages=4 cluster=1 raster=12 ctas=12 transport=symmetric "
    "groups=96,97|",
    "signaled tile=128x256x64 stages=4 cluster=2 raster=13 ctas=13 transport=copy_engine "
    "groups=96,97,98|",
    "signaled tile=128x256x64 stages=4 cluster=1 raster=14 ctas=14 transport=symmetric_then_ring "
    "groups=96,97,98,99|",
    "signaled tile=128x256x64 stages=4 cluster=2 raster=15 ctas=15 transport=peer_access "
    "groups=96,97,98,99,100|",
    "peer_store tile=128x256x64 stages=4 cluster=1 raster=16 ctas=16 transport=ring|",
    "peer_store tile=128x256x64 stages=4 cluster=2 raster=17 ctas=17 transport=symmetric|",
    "peer_store tile=128x256x64 stages=4 cluster=1 raster=18 ctas=18 transport=copy_engine|",
    "peer_store tile=128x256x64 stages=4 cluster=2 raster=19 ctas=19 "
    "transport=symmetric_then_ring|",
    "peer_store tile=128x256x64 stages=4 cluster=1 raster=20 ctas=20 transport=peer_access|",
    "copy_engine ctas=21 transport=ring chunks=21 groups=1099511627797,1|",
    "copy_engine ctas=22 transport=symmetric chunks=22|",
    "copy_engine ctas=23 transport=copy_engine chunks=23 groups=1099511627799,1|",
    "copy_engine ctas=24 transport=symmetric_then_ring chunks=24|",
    "copy_engine ctas=25 transport=peer_access chunks=25 groups=1099511627801,1|"};

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
                               const std::string& before = "") {
  std::ifstream in(std::string(OVERLAPTUNE_TEST_DATA) + "/db/" + version + ".sql");
  std::stringstream script;
  script << before << in.rdbuf();
  auto file = folder / (version + ".db");
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(script.str());
  return file;
}

class MigrationTest : public testing::Test {
 protected:
  Folder folder_;
  std::filesystem::path file_ = restored(folder_, "v1");
};

TEST_F(MigrationTest, AVersion1DatabaseIsReadWithoutAByteChanged) {
  const std::string bytes = samples::read_bytes(file_);
  const auto winners = rows(file_, kWinnersInVersion1).size();
  {
    const Store store(file_, Access::read);
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
  EXPECT_EQ(samples::read_bytes(file_), bytes);
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
  const auto as_read = samples::content(Store(file_, Access::read));
  {
    const Store store(file_, Access::write);
    EXPECT_EQ(store.info().schema_version, db::kSchemaVersion);
    EXPECT_TRUE(store.check().empty());
    EXPECT_EQ(samples::content(store), as_read);
  }
  EXPECT_EQ(rows(file_, kWinners), winners);
  EXPECT_EQ(rows(file_, kWinningConfigs), kConfigs);
  EXPECT_EQ(rows(file_, kCandidates), candidates);
  EXPECT_EQ(rows(file_, "SELECT count(overlap_fraction) FROM winners").front(), "0|");
  // Version 3 added the library's tile, unknown for what was measured before.
  for (std::string& row : before["measurements"]) row += "|||||";
  for (const auto& [table, content] : before) {
    EXPECT_EQ(rows(file_, "SELECT * FROM " + table), content) << table;
  }
  EXPECT_EQ(rows(file_, "PRAGMA user_version"),
            std::vector{std::to_string(db::kSchemaVersion) + "|"});
}

TEST_F(MigrationTest, AVersion2DatabaseHoldsTheSameAfterItIsWritten) {
  const auto file = restored(folder_, "v2");
  EXPECT_EQ(rows(file, kWinners), rows(file_, kWinnersInVersion1));
  const auto as_read = samples::content(Store(file, Access::read));
  const Store store(file, Access::write);
  EXPECT_EQ(store.info().schema_version, db::kSchemaVersion);
  EXPECT_TRUE(store.check().empty());
  EXPECT_EQ(samples::content(store), as_read);
  EXPECT_EQ(samples::content(store), samples::content(Store(file_, Access::read)));
}

/// SQLite converts such texts as they are asked for, and where they lie.
TEST_F(MigrationTest, TextsOfAnotherEncodingAreTheSame) {
  const auto file = restored(folder_, "v3", "PRAGMA encoding = 'UTF-16';");
  ASSERT_EQ(rows(file, "PRAGMA encoding").front(), "UTF-16le|");
  // Those with groups as an answer may have them.
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
      .exec("DELETE FROM winners WHERE strategy NOT IN ('copy_engine', 'peer_store')");
  const Store store(file, Access::write);
  std::vector<Config> brief;
  for (const StoredPlatform& platform : store.platforms()) {
    store.each_brief_winner(platform.id, [&](const BriefWinner& winner) {
      const auto stored = store.winner(platform.id, winner.problem, winner.launch);
      ASSERT_TRUE(stored);
      EXPECT_EQ(winner.config, stored->winner.candidate.config);
      EXPECT_EQ(std::string(winner.validated_at.begin(), winner.validated_at.end()),
                stored->validated_at);
      brief.push_back(winner.config);
    });
  }
  EXPECT_GE(brief.size(), 3U);
}

TEST_F(MigrationTest, AVersion3DatabaseHoldsTheSameAfterItIsWritten) {
  const auto file = restored(folder_, "v3");
  const auto winners = rows(file, kWinners);
  ASSERT_EQ(winners.size(), 6U);
  const auto measurements = rows(file, "SELECT * FROM measurements");
  const auto as_read = samples::content(Store(file, Access::read));
  EXPECT_EQ(Store(file, Access::read).info().schema_version, 3);
  const Store store(file, Access::write);
  EXPECT_EQ(store.info().schema_version, db::kSchemaVersion);
  EXPECT_TRUE(store.check().empty());
  EXPECT_EQ(samples::content(store), as_read);
  EXPECT_EQ(rows(file, "SELECT * FROM measurements"), measurements);
  EXPECT_EQ(rows(file, "SELECT count(*) FROM measurements WHERE library_block_m > 0").front(),
            "3|");
  EXPECT_EQ(rows(file, kWinners), winners);
  EXPECT_EQ(rows(file, kWinningConfigs), kConfigs);
  for (const StoredWinner& stored : store.winners()) {
    EXPECT_FALSE(stored.winner.overlap_fraction);
  }
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
  const Store store(file, Access::write);
  EXPECT_EQ(store.info().schema_version, db::kSchemaVersion);
  EXPECT_TRUE(store.check().empty());
  EXPECT_EQ(rows(file, kWinners), winners);
  EXPECT_EQ(rows(file, kCandidates), candidates);
  EXPECT_EQ(rows(file, fractions), overlaps);
  EXPECT_EQ(rows(file, "SELECT config FROM winners WHERE run_id = 3 ORDER BY m"), kEveryConfig);
  EXPECT_EQ(rows(file,
                 "SELECT config FROM candidates JOIN problems ON problems.id = problem_id WHERE "
                 "run_id = 3 ORDER BY m"),
            kEveryConfig);
  const auto all = store.winners();
  std::size_t found = 0;
  for (const StoredWinner& stored : all) {
    if (stored.run != 3) continue;
    const Candidate& candidate = stored.winner.candidate;
    const auto index = static_cast<std::size_t>(candidate.problem.m / 512 - 1);
    EXPECT_EQ(parse_name<Strategy>(kEveryConfig[index].substr(0, kEveryConfig[index].find(' '))),
              candidate.config.strategy);
    EXPECT_EQ(candidate.config.tile.is_library() ? 0 : index + 1,
              static_cast<std::size_t>(candidate.config.raster));
    EXPECT_EQ(candidate.config.wait, Wait::driver);
    EXPECT_EQ(candidate.verdict, Verdict::valid);
    ++found;
  }
  EXPECT_EQ(found, kEveryConfig.size());
}

TEST_F(MigrationTest, AMigratedDatabaseTakesWhatIsNew) {
  Store store(restored(folder_, "v3"), Access::write);
  StoredWinner stored = store.winners().front();
  stored.winner.overlap_fraction = 0.625;
  stored.winner.candidate.config = {.strategy = Strategy::signaled,
                                    .tile = {128, 256, 64, 4, 2},
                                    .raster = 8,
                                    .comm_ctas = 16,
                                    .wave_groups = {928, 96},
                                    .wait = Wait::kernel};
  store.put_winner(stored.run, stored.winner);
  const Candidate& candidate = stored.winner.candidate;
  EXPECT_EQ(store.winner(stored.platform, candidate.problem, candidate.launch)->winner,
            stored.winner);
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
