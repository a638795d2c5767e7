// Files that are not sound: each gives a clear error or a usable database, never a crash. A refused
// file does not change by a byte.

#include <functional>
#include <random>
#include <sstream>
#include <sys/stat.h>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "db/impl.hpp"
#include "processes.hpp"
#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using samples::failure;

class DamageTest : public testing::Test {
 protected:
  DamageTest() {
    {
      Store store(file_, Access::create);
      samples::fill(store, 9, 60);
    }
    sound_ = samples::read_bytes(file_);
  }

  /// Writes the bytes and expects that every way to open them is refused and leaves them alone.
  std::string refused(const std::string& bytes) {
    std::string message;
    for (const auto access : {Access::read, Access::write, Access::create}) {
      clear_log();
      samples::write_bytes(file_, bytes);
      message = failure(ErrorKind::bad_database, [&] { const Store store(file_, access); });
      EXPECT_EQ(samples::read_bytes(file_), bytes);
      EXPECT_NE(message.find(file_.string()), std::string::npos) << message;
    }
    return message;
  }

  /// The refusal of a database that this SQL makes out of the sound one.
  std::string refused_after(const std::string& sql) {
    samples::write_bytes(file_, sound_);
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(sql);
    return refused(samples::read_bytes(file_));
  }

  void clear_log() {
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(file_.string() + suffix);
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "damaged.db";
  std::string sound_;
};

/// Asks for everything. Damage may only end in a `Failure` of kind `bad_database`.
void read_all(const Store& store) {
  const std::vector<std::function<void()>> questions{
      [&] { (void)store.info(); },
      [&] {
        for (const auto& stored : store.platforms()) (void)store.measurements(stored.id);
      },
      [&] { (void)store.platform(""); },
      [&] { (void)store.last_tuning_run(1); },
      [&] { (void)store.all_candidates(); },
      [&] {
        std::ostringstream out;
        export_json(store, out);
      },
      [&] { Store(std::make_unique<Store::Impl>(db::open_memory())).merge(store); },
      [&] {
        for (const auto& stored : store.winners()) {
          const auto& candidate = stored.winner.candidate;
          (void)store.winner(stored.platform, candidate.problem, candidate.launch);
          (void)store.candidates(stored.run, candidate.problem, candidate.launch);
        }
      }};
  for (const auto& ask : questions) {
    try {
      ask();
    } catch (const Failure& failure) {
      EXPECT_EQ(failure.kind(), ErrorKind::bad_database) << failure.what();
    }
  }
  (void)store.check();
}

TEST_F(DamageTest, RandomBytesFlippedAnywhere) {
  std::mt19937 random(1);
  int refusals = 0;
  int reported = 0;
  constexpr int kTrials = 300;
  for (int trial = 0; trial < kTrials; ++trial) {
    std::string bytes = sound_;
    const std::size_t within = trial % 3 == 0 ? 100 : trial % 3 == 1 ? 16384 : bytes.size();
    for (std::size_t flips = 1 + random() % 12; flips > 0; --flips) {
      bytes[random() % within] ^= static_cast<char>(1 + random() % 255);
    }
    clear_log();
    samples::write_bytes(file_, bytes);
    try {
      Store store(file_, trial % 2 == 0 ? Access::read : Access::write);
      read_all(store);
      if (!store.check().empty()) ++reported;
      if (trial % 2 == 1) samples::fill(store, 77, 2);
    } catch (const Failure& failure) {
      EXPECT_NE(failure.kind(), ErrorKind::cannot_write) << failure.what();
      EXPECT_EQ(std::string(failure.what()).find('\n'), std::string::npos) << failure.what();
      ++refusals;
    }
    if (trial % 2 == 0) {
      EXPECT_EQ(samples::read_bytes(file_), bytes) << trial;
    }
  }
  EXPECT_GT(refusals, kTrials / 10);
  EXPECT_GT(reported, kTrials / 10);
}

TEST_F(DamageTest, AFileRefusedForWritingKeepsItsBytes) {
  std::mt19937 random(2);
  int refusals = 0;
  for (int trial = 0; trial < 200; ++trial) {
    std::string bytes = sound_;
    bytes[random() % (trial % 2 == 0 ? 100 : bytes.size())] ^=
        static_cast<char>(1 + random() % 255);
    clear_log();
    samples::write_bytes(file_, bytes);
    try {
      const Store store(file_, Access::write);
    } catch (const Failure&) {
      ++refusals;
      EXPECT_EQ(samples::read_bytes(file_), bytes) << trial;
    }
  }
  EXPECT_GT(refusals, 20);
}

TEST_F(DamageTest, CutShortAnywhere) {
  std::mt19937 random(3);
  for (int trial = 0; trial < 60; ++trial) {
    const std::string message = refused(sound_.substr(0, 1 + random() % (sound_.size() - 1)));
    EXPECT_TRUE(message.find("cut short") != std::string::npos ||
                message.find("not an SQLite database") != std::string::npos)
        << message;
  }
}

TEST_F(DamageTest, NotADatabase) {
  EXPECT_NE(refused("").find("is empty"), std::string::npos);
  EXPECT_NE(refused("op,m,n,k,dtype,ranks\n").find("not an SQLite"), std::string::npos);
  EXPECT_NE(refused(std::string(200'000, '\0')).find("not an SQLite"), std::string::npos);
}

TEST_F(DamageTest, ADatabaseOfAnotherProgram) {
  clear_log();
  std::filesystem::remove(file_);
  {
    SQLite::Database other(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    other.exec("CREATE TABLE winners (name TEXT)");
  }
  const std::string message = refused(samples::read_bytes(file_));
  EXPECT_NE(message.find("another program"), std::string::npos) << message;
}

TEST_F(DamageTest, ANewerSchema) {
  const std::string message = refused_after("PRAGMA user_version = 99");
  EXPECT_NE(message.find("version 99"), std::string::npos) << message;
}

TEST_F(DamageTest, ASchemaThatIsNotOurs) {
  EXPECT_NE(refused_after("PRAGMA user_version = 0").find("no schema version"), std::string::npos);
  EXPECT_NE(refused_after("DROP TABLE winners").find("winners is missing"), std::string::npos);
  EXPECT_NE(refused_after("ALTER TABLE winners RENAME COLUMN m TO rows").find("winners"),
            std::string::npos);
  EXPECT_NE(refused_after("ALTER TABLE candidates ADD COLUMN note TEXT").find("candidates"),
            std::string::npos);
  EXPECT_NE(refused_after("DROP INDEX tuning_runs_of_platform").find("tuning_runs_of_platform"),
            std::string::npos);
}

TEST_F(DamageTest, AWordOfTheSchemaOverwrittenIsToldInOneLine) {
  const std::string sound = "collective_alone_us REAL";
  std::string bytes = sound_;
  int overwritten = 0;
  for (auto at = bytes.find(sound); at != bytes.npos; at = bytes.find(sound)) {
    bytes[at + sound.size() - 4] = '`';
    ++overwritten;
  }
  ASSERT_EQ(overwritten, 1);
  const std::string message = refused(bytes);
  EXPECT_NE(message.find("malformed database schema (winners)"), std::string::npos) << message;
  EXPECT_EQ(message.find('\n'), std::string::npos) << message;
}

TEST_F(DamageTest, ANewerSchemaThatIsStillInTheLogOfAKilledProgram) {
  samples::Child child([&] {
    SQLite::Database other(file_.string(), SQLite::OPEN_READWRITE);
    other.exec("PRAGMA user_version = 99; CREATE TABLE later (x INTEGER)");
    raise(SIGKILL);
    return 0;
  });
  EXPECT_EQ(child.wait(), -1);
  const auto log = file_.string() + "-wal";
  const std::string bytes = samples::read_bytes(file_);
  const std::string log_bytes = samples::read_bytes(log);
  ASSERT_FALSE(log_bytes.empty());
  for (const auto access : {Access::read, Access::write}) {
    const auto message =
        failure(ErrorKind::bad_database, [&] { const Store store(file_, access); });
    EXPECT_NE(message.find("version 99"), std::string::npos) << message;
    EXPECT_EQ(samples::read_bytes(file_), bytes);
    EXPECT_EQ(samples::read_bytes(log), log_bytes);
  }
}

TEST_F(DamageTest, WhatOthersAddedToTheSchemaIsRefused) {
  for (const auto& [sql, said] :
       {std::pair{"CREATE TRIGGER mine BEFORE INSERT ON winners BEGIN SELECT raise(ignore); END",
                  "holds trigger mine"},
        std::pair{"CREATE TRIGGER empty AFTER INSERT ON platforms BEGIN DELETE FROM winners; END",
                  "holds trigger empty"},
        std::pair{"CREATE VIEW endless AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 "
                  "FROM n) SELECT i FROM n",
                  "holds view endless"},
        std::pair{"CREATE TABLE mine (x INTEGER)", "holds table mine"},
        std::pair{"CREATE UNIQUE INDEX mine ON winners (seal)", "holds index mine"},
        std::pair{"CREATE VIEW \"a\x1b[2J\nb\" AS SELECT 1", "holds view a\\x1b[2J\\x0ab,"}}) {
    const std::string message = refused_after(sql);
    EXPECT_NE(message.find(said), std::string::npos) << message;
    EXPECT_NE(message.find("drop it"), std::string::npos) << message;
  }
}

/// A trigger that comes while the file is open has no effect either.
TEST_F(DamageTest, ATriggerThatComesLaterDoesNotRun) {
  Store store(file_, Access::write);
  const StoredWinner sound = store.winners().front();
  const auto count = store.info().winners;
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE)
      .exec(
          "CREATE TRIGGER mine BEFORE UPDATE ON winners BEGIN SELECT raise(ignore); END;"
          "CREATE TRIGGER empty AFTER UPDATE ON winners BEGIN DELETE FROM winners; END");
  Winner winner = sound.winner;
  winner.sequential = us(77);
  store.put_winner(sound.run, winner);
  const Candidate& key = winner.candidate;
  EXPECT_EQ(store.winner(sound.platform, key.problem, key.launch)->winner.sequential, us(77));
  EXPECT_EQ(store.info().winners, count);
}

TEST_F(DamageTest, StatisticsDoNoHarm) {
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec("ANALYZE");
  const Store store(file_, Access::write);
  EXPECT_TRUE(store.check().empty());
}

TEST_F(DamageTest, RowsThatBreakARuleAreToldAndNotServed) {
  struct Case {
    const char* sql;
    const char* said;
  };
  for (const auto& [sql, said] : std::vector<Case>{
           {"UPDATE winners SET config = 'magic' || substr(config, instr(config, ' '))",
            "strategy = 'magic': expected one of"},
           {"UPDATE winners SET config = 'peer_store ctas=8 transport=ring'", "missing"},
           {"UPDATE winners SET config = 'signaled tile=128x256x64 stages=4 cluster=2 swizzle=8 "
            "ctas=16 transport=ring groups=12,,7'",
            "groups = '12,,7': expected"},
           {"UPDATE winners SET config = 'signaled tile=128x256x64 stages=4 cluster=2 swizzle=8 "
            "ctas=16 transport=ring groups=12,-7'",
            "groups = '12,-7': expected"},
           {"UPDATE winners SET config = 'chunked ctas=8 transport=ring groups=12,7'",
            "groups = '12,7': chunked has none"},
           {"UPDATE winners SET config = 'chunked ctas=8'",
            "as it is printed: 'chunked ctas=8 transport=ring'"},
           {"UPDATE winners SET config = 'chunked ctas=8 transport=ring wait=kernel'",
            "wait = 'kernel': chunked has none"},
           {"UPDATE winners SET config = 'chunked ctas=0 transport=ring'",
            "ctas = 0: expected 1 or more with chunked"},
           {"UPDATE winners SET config = 'sequential ctas=0 transport=peer_access'",
            "ctas = 0: expected 1 or more by peer_access"},
           {"UPDATE winners SET config = 'chunked ctas=8 transport=ring chunks=1000000000'",
            "chunks = 1000000000: expected 1 to"},
           {"UPDATE winners SET config = 'signaled tile=128x256x64 stages=4 cluster=2 swizzle=8 "
            "ctas=16 transport=ring groups=4611686018427387904' "
            "WHERE op NOT IN ('all_gather_gemm', 'all_to_all_gemm')",
            "wave_groups: group 0 of 4611686018427387904 tiles"},
           {"UPDATE OR REPLACE winners SET op = 'all_gather_gemm', config = 'signaled "
            "tile=128x256x64 stages=4 cluster=2 swizzle=8 ctas=16 transport=ring groups=1'",
            "strategy signaled: cannot run all_gather_gemm"},
           {"UPDATE winners SET config = ''", "strategy: missing"},
           {"UPDATE winners SET config = char(10) || 'chunked ctas=8 transport=ring'",
            "as it is printed"},
           {"UPDATE winners SET n = 12345", "n"},
           {"UPDATE winners SET ranks = 1 << 40", "out of range"}}) {
    clear_log();
    samples::write_bytes(file_, sound_);
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(sql);
    const Store store(file_, Access::read);
    const auto message = failure(ErrorKind::bad_database, [&] { (void)store.winners(); });
    EXPECT_NE(message.find(said), std::string::npos) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
    ASSERT_FALSE(store.check().empty()) << sql;
  }
}

TEST_F(DamageTest, ADamagedWinnerIsNamedAndCanBeReplaced) {
  const StoredWinner sound = Store(file_, Access::read).winners().front();
  const Candidate& candidate = sound.winner.candidate;
  SQLite::Database(file_.string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE winners SET config = 'chunked ctas=8 transport=ring chunks=1000000000'");
  Store store(file_, Access::create);
  const auto read = [&] {
    return store.winner(sound.platform, candidate.problem, candidate.launch);
  };
  const auto message = failure(ErrorKind::bad_database, read);
  EXPECT_NE(message.find(to_string(candidate.problem)), std::string::npos) << message;
  EXPECT_TRUE(store.has_winner(sound.platform, candidate.problem, candidate.launch));
  store.put_winner(sound.run, sound.winner);
  ASSERT_TRUE(read());
  EXPECT_EQ(read()->winner, sound.winner);
  Problem untuned = candidate.problem;
  untuned.k += 16;
  EXPECT_FALSE(store.has_winner(sound.platform, untuned, candidate.launch));
}

TEST_F(DamageTest, APlatformThatWasChangedAnswersForNoOther) {
  for (const char* sql : {"UPDATE platforms SET sms = sms + 1 WHERE id = 2",
                          "PRAGMA ignore_check_constraints = ON; UPDATE platforms SET "
                          "compute_capability = -1 WHERE id = 2"}) {
    clear_log();
    samples::write_bytes(file_, sound_);
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(sql);
    const Store store(file_, Access::read);
    failure(ErrorKind::bad_database, [&] { (void)store.platforms(); });
    int damaged = 0;
    const auto sound = store.platforms([&](const DamagedRow&) { ++damaged; });
    EXPECT_EQ(damaged, 1);
    ASSERT_FALSE(sound.empty());
    EXPECT_EQ(value_or_throw(store.platform(fingerprint(sound.front().platform))).id,
              sound.front().id);
    failure(ErrorKind::bad_database, [&] { (void)store.platform(sound.front().platform.name); });
    Store target(folder_ / "target.db", Access::create);
    failure(ErrorKind::bad_database, [&] { target.merge(store); });
    EXPECT_FALSE(store.check().empty());
  }
}

TEST_F(DamageTest, APlatformIsNoTextThatATerminalObeys) {
  Store store(folder_ / "platforms.db", Access::create);
  for (const char* name : {"\x1b[31mred",
                           "\xc2\x9b"
                           "31m",
                           "\xff", "a\rb", "del\x7f"}) {
    Platform platform{.machine = "cuda", .name = name};
    const auto add = [&] { (void)store.add_platform(platform); };
    const auto message = failure(ErrorKind::bad_input, add);
    EXPECT_NE(message.find("name holds bytes that are no text"), std::string::npos) << message;
    platform.name = "Größe 1 µs";
    add();
    platform.details = name;
    failure(ErrorKind::bad_input, add);
  }
}

TEST_F(DamageTest, ProbesOfNoSizeAreToldAndNotServed) {
  const std::vector<std::pair<const char*, const char*>> cases{
      {"m = 0 WHERE kind = 'gemm'", "m is 0; expected 1 to"},
      {"k = 1 << 40 WHERE kind = 'sustained'", "k is 1099511627776"},
      {"block_n = 0 WHERE block_m > 0", "tile: expected positive sizes"},
      {"sms = -1 WHERE kind = 'concurrent'", "sms is -1"},
      {"ranks = 1 WHERE kind = 'collective'", "ranks is 1; expected 2 to 1024"},
      {"collective_bytes = -1 WHERE kind = 'concurrent'", "bytes is -1"},
      {"block_m = 0, block_n = 0, block_k = 0, stages = 0, cluster = 0, comm_ctas = 0 "
       "WHERE kind = 'concurrent'",
       "comm_ctas is 0"},
      {"copy_bytes = 1 << 60 WHERE kind = 'copy'", "bytes is 1152921504606846976"},
      {"peer_to = peer_from WHERE kind = 'peer'", "expected two GPUs"},
      {"peer_from = 16 WHERE kind = 'peer'", "from is 16; expected 0 to 15"}};
  for (const auto& [change, said] : cases) {
    clear_log();
    samples::write_bytes(file_, sound_);
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE)
        .exec(std::string("UPDATE measurements SET ") + change);
    const Store store(file_, Access::read);
    const auto message = failure(ErrorKind::bad_database, [&] {
      for (const auto& stored : store.platforms()) (void)store.measurements(stored.id);
    });
    EXPECT_NE(message.find(said), std::string::npos) << message << "\nexpected: " << said;
  }
}

TEST_F(DamageTest, RowsWithoutTheirPlatformOrRunAreNeitherExportedNorMerged) {
  Store target(folder_ / "target.db", Access::create);
  for (const char* sql :
       {"DELETE FROM platforms WHERE id = 1", "DELETE FROM tuning_runs WHERE id = 1"}) {
    clear_log();
    samples::write_bytes(file_, sound_);
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE)
        .exec(std::string("PRAGMA foreign_keys = OFF; ") + sql);
    const Store store(file_, Access::read);
    std::ostringstream out;
    for (const auto& use : std::vector<std::function<void()>>{[&] { export_json(store, out); },
                                                              [&] { target.merge(store); }}) {
      const auto message = failure(ErrorKind::bad_database, use);
      EXPECT_NE(message.find("1, which is not there"), std::string::npos) << message;
    }
  }
  EXPECT_EQ(target.info().platforms, 0);
}

TEST_F(DamageTest, CheckFindsWhatSqliteDoesNot) {
  struct Case {
    const char* sql;
    const char* said;
  };
  for (const auto& [sql, said] : std::vector<Case>{
           {"UPDATE platforms SET sms = sms + 1 WHERE id = 1", "fingerprint"},
           {"UPDATE measurements SET probe = probe || '0' WHERE id = 3", "measurement 3"},
           {"UPDATE winners SET platform_id = 3 - platform_id", "the seal is not that"},
           {"UPDATE provenance SET uid = upper(uid) || 'x' WHERE id = 1",
            "expected 32 hexadecimal"},
           {"UPDATE provenance SET started_at = 'yesterday' WHERE id = 1", "started_at is 'yest"},
           {"UPDATE provenance SET started_at = '2026-13-23T12:00:00.000Z' WHERE id = 1",
            "started_at is '2026-13"},
           {"UPDATE provenance SET started_at = '2026-11-00T12:00:00.000Z' WHERE id = 1",
            "started_at is '2026-11-00"},
           {"UPDATE provenance SET started_at = '2026-11-23T24:00:00.000Z' WHERE id = 1",
            "started_at is '2026-11-23T24"},
           {"UPDATE provenance SET started_at = '2999-01-01T00:00:00.000Z' WHERE id = 1",
            "ahead of this machine's clock"},
           {"UPDATE tuning_runs SET finished_at = '2026' WHERE id = 1", "finished_at is '2026'"},
           {"UPDATE provenance SET host = 'a' || char(27) || '[2J' WHERE id = 1", "host holds"},
           {"UPDATE provenance SET program_version = CAST(x'ff' AS TEXT) WHERE id = 1",
            "program_version holds"},
           {"UPDATE provenance SET command_line = CAST(x'74ff' AS TEXT) WHERE id = 1",
            "command_line holds"},
           {"UPDATE measurements SET time_p10_us = time_median_us * 2 WHERE id = 3",
            "expected p10 to p90"},
           {"UPDATE candidates SET config = config || ' ' WHERE id = 2", "damaged row (config: "},
           {"UPDATE layer_gemms SET product = 'head' WHERE id = 2", "product 'head'"},
           {"UPDATE phase_results SET phase = 'warm' WHERE id = 2", "phase 'warm'"},
           {"UPDATE phase_results SET speedup_median = 1, speedup_low = 2, speedup_high = NULL "
            "WHERE id = 2",
            "a speedup without its spread"},
           {"UPDATE layer_gemms SET times_per_pass = 1 << 40 WHERE id = 2",
            "times_per_pass is 1099511627776"},
           {"PRAGMA foreign_keys = OFF; UPDATE layer_gemms SET run_id = 99 WHERE id = 2",
            "a row of table layer_gemms refers to nothing in tuning_runs"},
           {"UPDATE candidates SET config = 'chunked ctas=0 transport=ring' WHERE id = 2",
            "ctas = 0: expected 1 or more with chunked"},
           {"UPDATE winners SET validated_at = 'later'", "later"},
           {"UPDATE tuning_runs SET provenance_id = (SELECT provenance_id FROM probe_runs WHERE id "
            "= 1) WHERE id = 1",
            "is of both kinds"},
           {"PRAGMA ignore_check_constraints = ON; UPDATE winners SET overlap_fraction = 2",
            "overlap_fraction is 2; expected 0 to 1"},
           {"PRAGMA foreign_keys = OFF; DELETE FROM problems WHERE id = (SELECT min(problem_id) "
            "FROM "
            "candidates)",
            "candidates"},
           {"PRAGMA ignore_check_constraints = ON; UPDATE candidates SET predicted_us = -1 WHERE "
            "id "
            "= 1",
            "predicted (us) is -1"}}) {
    clear_log();
    samples::write_bytes(file_, sound_);
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE).exec(sql);
    const auto findings = Store(file_, Access::read).check();
    ASSERT_FALSE(findings.empty()) << sql;
    EXPECT_TRUE(
        std::any_of(findings.begin(), findings.end(),
                    [&](const std::string& finding) { return finding.find(said) != finding.npos; }))
        << findings.front() << "\nexpected: " << said;
  }
}

TEST_F(DamageTest, NotAFile) {
  const auto directory =
      failure(ErrorKind::bad_database, [&] { const Store store(folder_.path(), Access::create); });
  EXPECT_NE(directory.find("not a file"), std::string::npos) << directory;
  const auto pipe = folder_ / "pipe";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  failure(ErrorKind::bad_database, [&] { const Store store(pipe, Access::read); });
}

TEST_F(DamageTest, APipeInThePlaceOfALogKeepsNobodyWaiting) {
  for (const std::string suffix : {"-wal", "-shm", "-journal"}) {
    const std::string pipe = file_.string() + suffix;
    clear_log();
    ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
    samples::Child child([&] {
      alarm(30);
      const auto said = failure(ErrorKind::bad_database, [&] { Store(file_, Access::read); });
      return said.find("with " + suffix + " is not a file") != said.npos ? 0 : 1;
    });
    EXPECT_EQ(child.wait(), 0) << suffix;
    std::filesystem::remove(pipe);
  }
}

TEST_F(DamageTest, AMissingFileIsMadeOnlyIfAsked) {
  const auto missing = folder_ / "missing.db";
  for (const auto access : {Access::read, Access::write}) {
    const auto message = failure(ErrorKind::bad_input, [&] { const Store store(missing, access); });
    EXPECT_NE(message.find("no such file"), std::string::npos) << message;
    EXPECT_FALSE(std::filesystem::exists(missing));
  }
  { const Store store(missing, Access::create); }
  EXPECT_TRUE(std::filesystem::exists(missing));
}

}  // namespace
}  // namespace overlaptune
