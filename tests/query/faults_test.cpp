// Faults of the files: the loaded answers stay, and a reload says what is wrong.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <random>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "stored.hpp"
#include "tests/db/processes.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

class FaultsTest : public testing::Test {
 protected:
  FaultsTest() { stored::put_winners(file(), 5); }

  [[nodiscard]] fs::path file() const { return folder_ / "a.db"; }

  /// The winner of this problem does not answer, for this reason; those of the others do.
  void is_no_answer(const ovt_problem& problem, const std::string& said) {
    const ovt::Database database({file()});
    const ovt_answer answer = database.query(problem);
    EXPECT_EQ(answer.source, OVT_BASELINE) << said;
    EXPECT_THAT(answer.reason, HasSubstr("the winner of this problem and launch is damaged"));
    EXPECT_THAT(answer.reason, HasSubstr(said));
    for (int m = 2; m <= 5; ++m) EXPECT_EQ(database.query(stored::problem(m)).source, OVT_EXACT);
  }

  /// The message with which a reload fails. The handle must then answer as before, from memory, and
  /// without probes that it cannot read any more.
  std::string reload_fails(ovt::Database& database, ovt_status status) {
    EXPECT_EQ(ovt_reload(database.handle()), status) << ovt_last_error();
    std::string text = ovt_last_error();
    EXPECT_THAT(text, HasSubstr(file().string()));
    EXPECT_EQ(database.query(stored::problem(5)).source, OVT_EXACT);
    EXPECT_EQ(database.query(stored::problem(6)).source, OVT_BASELINE);
    return text;
  }

  TemporaryFolder folder_;
};

TEST_F(FaultsTest, ADeletedDatabase) {
  ovt::Database database({file()});
  fs::remove(file());
  EXPECT_THAT(reload_fails(database, OVT_ERROR_NOT_FOUND), HasSubstr("no such file"));
  EXPECT_THAT(database.query(stored::problem(6)).reason, HasSubstr("no such file"));
}

TEST_F(FaultsTest, ATruncatedDatabase) {
  ovt::Database database({file()});
  for (const std::uintmax_t size : {8192, 100, 1, 0}) {
    fs::resize_file(file(), size);
    reload_fails(database, OVT_ERROR_DATABASE);
  }
}

/// A copy is put back, and the log of the newer state, which nobody finished, stays beside it.
TEST_F(FaultsTest, ALogOfAnotherStateGivesNoAnswers) {
  const fs::path copy = folder_ / "copy.db";
  const fs::path log = file().string() + "-wal";
  fs::copy_file(file(), copy);
  {
    // Two states: one in the file, and one that changes few pages of it in the log.
    stored::put_winners(file(), 400);
    SQLite::Database database(file().string(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
    Store store(file(), Access::write);
    const StoredWinner last = store.winners().back();
    store.put_winner(last.run, last.winner);
    fs::copy_file(log, folder_ / "kept-wal");
  }
  fs::remove(file());
  fs::rename(copy, file());
  fs::rename(folder_ / "kept-wal", log);
  try {
    const ovt::Database database({file()});
    FAIL() << "it answers";
  } catch (const ovt::Error& error) {
    EXPECT_EQ(error.status(), OVT_ERROR_DATABASE);
    EXPECT_THAT(error.what(), HasSubstr(file().string()));
  }
  EXPECT_FALSE(Store(file(), Access::read).check().empty());
}

/// The file has lost a winner, or a part of one, and a writer that goes on has put others into its
/// log.
TEST_F(FaultsTest, ADamagedWinnerBesideALogHidesNoOther) {
  for (const char* const damage :
       {"DELETE FROM winners WHERE m = 1", "UPDATE winners SET seal = seal + 1 WHERE m = 1"}) {
    const fs::path damaged = folder_ / "damaged.db";
    fs::remove(file());
    stored::put_winners(file(), 5);
    {
      Store store(file(), Access::write);
      SQLite::Database database(file().string(), SQLite::OPEN_READWRITE);
      database.exec(damage);
      database.exec("PRAGMA wal_checkpoint(RESTART)");
      store.put_winner(store.last_tuning_run(1)->id, stored::winner(5));
      for (const char* const suffix : {"", "-wal"}) {
        fs::copy_file(file().string() + suffix, damaged.string() + suffix,
                      fs::copy_options::overwrite_existing);
      }
    }
    ASSERT_GT(fs::file_size(damaged.string() + "-wal"), 0U);
    {
      const ovt::Database answers({damaged});
      for (int m = 2; m <= 6; ++m) {
        EXPECT_EQ(answers.query(stored::problem(m)).source, OVT_EXACT) << damage << ", m " << m;
      }
    }
    EXPECT_FALSE(Store(damaged, Access::read).check().empty()) << damage;
    for (const char* const suffix : {"", "-wal", "-shm"}) fs::remove(damaged.string() + suffix);
  }
}

TEST_F(FaultsTest, ADatabaseReplacedBySomethingElse) {
  ovt::Database database({file()});
  samples::write_bytes(file(),
                       "not a database at all, only text that is longer than a header is, "
                       "so that it is read as one and refused for what it says.");
  EXPECT_THAT(reload_fails(database, OVT_ERROR_DATABASE), HasSubstr("not an SQLite database"));
  fs::remove(file());
  fs::create_directory(file());
  reload_fails(database, OVT_ERROR_DATABASE);
}

TEST_F(FaultsTest, ADatabaseReplacedByAnotherIsSeenByTheNextReload) {
  ovt::Database database({file()});
  stored::put_winners(folder_ / "b.db", 7, 2);
  fs::rename(folder_ / "b.db", file());
  EXPECT_EQ(stored::wave_groups(database.query(stored::problem(5)))[1], 1001);
  database.reload();
  EXPECT_EQ(stored::wave_groups(database.query(stored::problem(7)))[1], 1002);
}

TEST_F(FaultsTest, ALockedDatabaseIsGivenUpOnAfterAWhile) {
  ovt::Database database({file()});
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  samples::Child other([&] {
    SQLite::Database mine(file().string(), SQLite::OPEN_READWRITE);
    mine.exec("PRAGMA locking_mode = EXCLUSIVE");
    mine.exec("BEGIN EXCLUSIVE; UPDATE winners SET sequential_us = 1 WHERE m = 1; COMMIT");
    if (write(ready[1], "x", 1) != 1) return 1;
    for (;;) pause();
    return 0;
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_THAT(reload_fails(database, OVT_ERROR_UNAVAILABLE), HasSubstr("locked"));
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(15));
  other.kill_it();
  database.reload();
  EXPECT_EQ(database.query(stored::problem()).source, OVT_BASELINE);
}

TEST_F(FaultsTest, AWriterInTheMiddleOfATransactionHindersNobody) {
  SQLite::Database writer(file().string(), SQLite::OPEN_READWRITE);
  writer.exec("BEGIN IMMEDIATE; UPDATE winners SET sequential_us = 1");
  samples::Child other([&] {  // a process of its own: two SQLites in one share no file safely
    ovt::Database database({file()});
    database.reload();
    return database.query(stored::problem(5)).baseline_us == 8 + 1e6 ? 0 : 1;
  });
  EXPECT_EQ(other.wait(), 0);
  writer.exec("ROLLBACK");
}

TEST_F(FaultsTest, AChildMayUseWhatItsParentOpened) {
  ovt::Database database({file()});
  (void)database.query(stored::problem(6));
  samples::Child child([&] {
    if (database.query(stored::problem(5)).source != OVT_EXACT) return 1;
    if (database.query(stored::problem(9)).source != OVT_BASELINE) return 2;
    database.reload();
    return database.query(stored::problem(5)).source == OVT_EXACT ? 0 : 3;
  });
  EXPECT_EQ(child.wait(), 0);
  database.reload();
  EXPECT_EQ(database.query(stored::problem(5)).source, OVT_EXACT);
}

TEST_F(FaultsTest, AWinnerWithMoreGroupsThanThereIsRoomForIsRefused) {
  std::vector<std::int64_t> groups(kMostRegions, 1);
  groups.push_back(stored::kColumns - kMostRegions);
  Winner winner = stored::winner(0);
  std::get<Signaled>(winner.candidate.config).wave_groups = groups;
  {
    Store store(file(), Access::write);
    EXPECT_THROW(store.put_winner(store.last_tuning_run(1)->id, winner), Failure);
  }
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE winners SET config = '" + to_string(winner.candidate.config) + "' WHERE m = 1");
  is_no_answer(stored::problem(1), "193 regions of C: expected at most 192");
}

TEST_F(FaultsTest, AWinnerThatIsNoAnswerToItsProblemIsRefused) {
  for (const auto& [change, said] : std::vector<std::pair<const char*, const char*>>{
           {"config = replace(config, '7190', '7189')", "8191 tiles in all, expected 8192"},
           {"config = replace(config, '256x16x', '256x0x')", "tile = '256x0x64': expected"},
           {"config = replace(config, ' groups', ' chunks=2 groups')",
            "chunks = '2': signaled has none"},
           {"config = replace(config, 'signaled', 'chunked')",
            "tile = '256x16x64': chunked has none"},
           {"config = replace(config, 'signaled', 'peer_store')",
            "ctas = '16': peer_store has none"},
           {"config = replace(config, 'ring', 'copy_engine')",
            "groups: transport copy_engine needs groups of whole swizzle groups"},
           {"config = replace(replace(config, 'ring', 'peer_access'), 'ctas=16', 'ctas=0')",
            "ctas = 0: expected 1 or more with signaled by peer_access"},
           {"config = 'chunked ctas=8 transport=ring chunks=99'", "chunks = 99: expected 1 to"},
           {"config = 'chunked ctas=0 transport=ring'", "ctas = 0: expected 1 or more"},
           {"config = 'chunked ctas=8 transport=ring wait=kernel'",
            "wait = 'kernel': chunked has none"},
           {"config = 'chunked transport=ring ctas=8'", "as it is printed: 'chunked ctas=8"},
           {"validated_at = 'now'", "validated_at is 'now'"},
           {"measured_median_us = 0", " is 0; expected a time"},
           {"sequential_us = 0", " is 0; expected a time"},
           {"measured_median_us = measured_median_us / 64", "the seal is not that of its values"},
           {"predicted_us = 1e40", "the seal is not that of its values"},
           {"config = replace(config, 'stages=4', 'stages=3')", "the seal is not that"},
           {"config = replace(config, 'ctas=16', 'ctas=17')", "the seal is not that"}}) {
    stored::put_winners(file(), 1);
    SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
        .exec(std::string("PRAGMA ignore_check_constraints = 1; UPDATE winners SET ") + change +
              " WHERE m = 1");
    is_no_answer(stored::problem(1), said);
  }
}

TEST_F(FaultsTest, AWinnerOfAnotherProblemThanItsOwnIsRefused) {
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE winners SET op = 'all_gather_gemm', m = 8 WHERE m = 1");
  is_no_answer(ovt::problem(OVT_ALL_GATHER_GEMM, 8, stored::kN, 3584, OVT_BF16, 8),
               "strategy signaled: cannot run all_gather_gemm");
  EXPECT_THAT(ovt::Database({file()}).query(stored::problem(1)).reason, HasSubstr("no winner"));
}

/// One file of several: the next one answers.
TEST_F(FaultsTest, ADamagedWinnerDoesNotHideThatOfAnotherFile) {
  stored::put_winners(folder_ / "b.db", 5, 2);
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE winners SET predicted_us = 1e40 WHERE m = 1");
  ovt::Database database({file(), folder_ / "b.db"});
  EXPECT_EQ(database.query(stored::problem(1)).source, OVT_EXACT);
  EXPECT_EQ(stored::wave_groups(database.query(stored::problem(1)))[1], 1002);
  EXPECT_EQ(stored::wave_groups(database.query(stored::problem(2)))[1], 1001);
}

TEST_F(FaultsTest, ADamagedPlatformTakesNoAnswerFromAnother) {
  const Platform other = stored::platform("damaged");
  stored::put_winners(file(), 5, 1, other);
  SQLite::Database(file().string(), SQLite::OPEN_READWRITE)
      .exec("UPDATE platforms SET sms = sms + 1 WHERE name = 'damaged'");
  const auto opens = [&](const ovt_platform& platform) {
    const std::string path = file().string();
    const char* const paths[] = {path.c_str()};
    ovt_database* database = nullptr;
    const ovt_status status = ovt_open(paths, 1, &platform, &database);
    if (status != OVT_OK) return status;
    const ovt_problem problem = stored::problem(3);
    ovt_answer answer{};
    answer.size = sizeof answer;
    EXPECT_EQ(ovt_query(database, &problem, OVT_GRAPH, &answer), OVT_OK);
    EXPECT_EQ(answer.source, OVT_EXACT) << answer.reason;
    ovt_close(database);
    return status;
  };
  const auto named = [](const std::string& name) {
    return stored::described(Platform{.name = name});
  };
  const Platform sound = stored::platform();
  EXPECT_EQ(opens(stored::described(sound)), OVT_OK);
  EXPECT_EQ(opens(named(fingerprint(sound))), OVT_OK);
  // The damaged row may be the one that is meant.
  EXPECT_EQ(opens(stored::described(other)), OVT_ERROR_DATABASE);
  EXPECT_EQ(opens(named(fingerprint(other))), OVT_ERROR_DATABASE);
  EXPECT_EQ(opens(named(sound.name)), OVT_ERROR_DATABASE);
}

TEST_F(FaultsTest, RandomDamageEndsInAnErrorOrAnAnswer) {
  {
    SQLite::Database database(file().string(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA wal_checkpoint(TRUNCATE)");
  }
  const std::string sound = samples::read_bytes(file());
  std::mt19937_64 random(7);
  int opened = 0;
  for (int round = 0; round < 300; ++round) {
    std::string damaged = sound;
    for (int i = 0; i < 1 << round % 8; ++i) {
      damaged[random() % damaged.size()] = static_cast<char>(random());
    }
    const fs::path copy = folder_ / fmt::format("damaged-{}.db", round);
    samples::write_bytes(copy, damaged);
    const std::string path = copy;
    const char* const paths[] = {path.c_str()};
    ovt_database* database = nullptr;
    const ovt_status status = ovt_open(paths, 1, nullptr, &database);
    ASSERT_LT(status, OVT_ERROR_MEMORY) << ovt_last_error();
    if (status != OVT_OK) {
      ASSERT_THAT(ovt_last_error(), Not(testing::StrEq("")));
      continue;
    }
    ++opened;
    const ovt_problem problem = stored::problem(5);
    ovt_answer answer;
    answer.size = sizeof answer;
    ASSERT_EQ(ovt_query(database, &problem, OVT_GRAPH, &answer), OVT_OK) << ovt_last_error();
    ASSERT_TRUE(parse_config(answer.config)) << answer.config;
    ovt_close(database);
  }
  EXPECT_GT(opened, 0) << "damage that nobody reads";
  EXPECT_LT(opened, 300);
}

}  // namespace
}  // namespace overlaptune
