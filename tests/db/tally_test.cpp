// Rows that are gone, and rows of an older state: `check` misses them, `repair` makes it right.

#include <SQLiteCpp/SQLiteCpp.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "processes.hpp"
#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using samples::Generator;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class TallyTest : public testing::Test {
 protected:
  TallyTest() {
    Store store(file_, Access::create);
    samples::fill(store, 9, 60);
  }

  void change(const std::string& sql) const {
    SQLite::Database(file_.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(sql);
  }
  /// The findings of `check`, one line each; then repairs the file, which must be sound then.
  [[nodiscard]] std::string found() const {
    Store store(file_, Access::write);
    std::string all;
    for (const std::string& finding : store.check()) all += finding + "\n";
    (void)store.repair();
    EXPECT_THAT(store.check(), IsEmpty());
    return all;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "f.db";
};

TEST_F(TallyTest, ARowThatIsGoneIsMissed) {
  change("DELETE FROM winners WHERE m = (SELECT max(m) FROM winners)");
  EXPECT_THAT(found(), HasSubstr("table winners: "));
  change(
      "DELETE FROM candidates WHERE id = (SELECT max(id) FROM candidates WHERE verdict <> "
      "'valid')");
  EXPECT_THAT(found(), HasSubstr("table candidates: "));
  change("DELETE FROM measurements WHERE id = 7");
  EXPECT_THAT(found(), HasSubstr("table measurements: "));
  change("DELETE FROM phase_results WHERE id = 2");
  EXPECT_THAT(found(), HasSubstr("table phase_results: "));
  change(
      "UPDATE phase_results SET speedup_median = 1, speedup_low = 1, speedup_high = 1 WHERE id = "
      "1");
  EXPECT_THAT(found(), HasSubstr("table phase_results: rows are not those that were stored last"));
}

/// The rows and their seals are as they once were.
TEST_F(TallyTest, RowsOfAnOlderStateAreFoundOut) {
  const std::string aside = "ATTACH '" + (folder_ / "aside.db").string() + "' AS aside; ";
  change(aside + "CREATE TABLE aside.old AS SELECT * FROM winners");
  {
    Store store(file_, Access::write);
    StoredWinner newer = store.winners().front();
    newer.winner.sequential = us(1);
    store.put_winner(newer.run, newer.winner);
    EXPECT_THAT(store.check(), IsEmpty());
  }
  std::string columns;
  {
    SQLite::Database database(file_.string());
    SQLite::Statement names(database,
                            "SELECT group_concat(name) FROM pragma_table_info('winners')");
    ASSERT_TRUE(names.executeStep());
    columns = names.getColumn(0).getString();
  }
  change(aside + "REPLACE INTO winners (" + columns + ") SELECT " + columns + " FROM aside.old");
  EXPECT_THAT(found(), HasSubstr("table winners: rows are not those that were stored last"));
}

/// A database of some results, whose file is copied between two states: each page of the newer one
/// takes its place alone in the older one.
TEST_F(TallyTest, PagesOfTwoStatesAreNoSoundDatabase) {
  const std::string older = samples::read_bytes(file_);
  {
    Store store(file_, Access::write);
    Winner winner = store.winners().front().winner;
    for (const StoredWinner& stored : store.winners()) {
      winner = stored.winner;
      winner.sequential += us(1);
      store.put_winner(stored.run, winner);
    }
  }
  const std::string newer = samples::read_bytes(file_);
  ASSERT_EQ(newer.size(), older.size());
  constexpr std::size_t kPage = 16384;
  int mixed = 0;
  for (std::size_t page = 0; page < newer.size(); page += kPage) {
    std::string bytes = newer;
    bytes.replace(page, kPage, older, page, kPage);
    if (bytes == newer || page == 0) continue;  // the first page has no rows
    for (const char* suffix : {"-wal", "-shm"}) std::filesystem::remove(file_.string() + suffix);
    samples::write_bytes(file_, bytes);
    ++mixed;
    EXPECT_THAT(Store(file_, Access::read).check(), testing::Not(IsEmpty())) << page;
  }
  EXPECT_GT(mixed, 1);
}

TEST_F(TallyTest, EveryWayToWriteKeepsTheTallies) {
  Store store(file_, Access::write);
  Store other(folder_ / "other.db", Access::create);
  samples::fill(other, 10, 40);
  samples::fill(store, 9, 60);  // replaces
  store.merge(other);
  store.merge(other);
  EXPECT_THAT(store.check(), IsEmpty());
  (void)store.prune({.keep = 1});
  EXPECT_THAT(store.check(), IsEmpty());
  ASSERT_TRUE(store.remove({.platform = store.platforms().front().id}));
  EXPECT_THAT(store.check(), IsEmpty());
}

TEST_F(TallyTest, ARemovalHidesNoOtherLoss) {
  change("DELETE FROM winners WHERE m = (SELECT max(m) FROM winners)");
  {
    Store store(file_, Access::write);
    ASSERT_TRUE(store.remove({.problem = store.winners().front().winner.candidate.problem}));
  }
  EXPECT_THAT(found(), HasSubstr("table winners: "));
}

}  // namespace
}  // namespace overlaptune
