// Seals: what they are, and that no column of a candidate or a winner can change without one.

#include <bit>

#include <SQLiteCpp/SQLiteCpp.h>
#include <gtest/gtest.h>

#include "db/impl.hpp"
#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

class SealTest : public testing::Test {
 protected:
  SealTest() {
    Store store(file_, Access::create);
    samples::fill(store, 21, 40);
  }

  /// A copy of the sound file, changed by SQL that no rule of SQLite hinders.
  std::filesystem::path changed(const std::string& sql) {
    const auto copy = folder_ / fmt::format("changed-{}.db", ++copies_);
    samples::write_bytes(copy, samples::read_bytes(file_));
    SQLite::Database database(copy.string(), SQLite::OPEN_READWRITE);
    database.exec("PRAGMA ignore_check_constraints = ON; PRAGMA foreign_keys = OFF");
    changes_ = database.exec(sql);
    return copy;
  }

  /// The columns of a table that are stored, with SQL for another value of the same type.
  static std::vector<std::pair<std::string, std::string>> other_values(
      const std::filesystem::path& file, const std::string& table) {
    SQLite::Database database(file.string(), SQLite::OPEN_READONLY);
    SQLite::Statement columns(database,
                              "SELECT name, type FROM pragma_table_info('" + table + "')");
    std::vector<std::pair<std::string, std::string>> list;
    while (columns.executeStep()) {
      const std::string name = columns.getColumn(0).getString();
      const std::string type = columns.getColumn(1).getString();
      const std::string other = type == "TEXT"   ? " || 'x'"
                                : type == "REAL" ? " * (1 + 2.3e-16)"  // the last bit
                                                 : " + 1";
      const std::string if_null = type == "TEXT" ? "'x'" : type == "REAL" ? "1.0" : "1";
      list.emplace_back(name, "coalesce(" + name + other + ", " + if_null + ")");
    }
    return list;
  }

  TemporaryFolder folder_;
  std::filesystem::path file_ = folder_ / "sound.db";
  int copies_ = 0;
  int changes_ = 0;
};

/// The numbers are what `xxhsum -H3` says of the bytes that db/seal.hpp describes.
TEST_F(SealTest, IsXxh3OfTheFormThatIsDocumented) {
  const Store store(file_, Access::read);
  const auto seal = [&](const std::string& values) {
    return std::bit_cast<std::uint64_t>(
        store.impl().connection->integer("SELECT seal_of(" + values + ")"));
  };
  EXPECT_EQ(seal("7, 1.5, 'µs', NULL, -1, -0.0"), 0x1ba859026134be7fULL);
  EXPECT_EQ(seal("replace(hex(zeroblob(350)), '0', 'x')"), 0xc25044f3e5ca43f5ULL);
}

TEST_F(SealTest, AChangeOfAnyColumnOfAWinnerIsFound) {
  for (const auto& [name, other] : other_values(file_, "winners")) {
    const auto file = changed("UPDATE winners SET " + name + " = " + other +
                              " WHERE m = (SELECT max(m) FROM winners)");
    ASSERT_EQ(changes_, 1) << name;
    EXPECT_FALSE(Store(file, Access::read).check().empty()) << name;
    Store target(folder_ / ("target-" + name + ".db"), Access::create);
    EXPECT_THROW(target.merge(Store(file, Access::read)), Failure) << name;
  }
}

TEST_F(SealTest, AChangeOfAnyColumnOfACandidateOrItsProblemIsFound) {
  for (const char* table : {"candidates", "problems"}) {
    for (const auto& [name, other] : other_values(file_, table)) {
      if (table == std::string("candidates") && name == "id") continue;  // nothing refers to it
      const auto file = changed(std::string("UPDATE ") + table + " SET " + name + " = " + other +
                                " WHERE id = (SELECT max(id) FROM " + table + ")");
      ASSERT_EQ(changes_, 1) << name;
      EXPECT_FALSE(Store(file, Access::read).check().empty()) << name;
    }
  }
}

TEST_F(SealTest, AWinnerThatWasChangedIsNoAnswerAndAllOthersAre) {
  const auto briefs = [](const std::filesystem::path& file) {
    std::pair<std::size_t, std::size_t> counts;
    const Store store(file, Access::read);
    for (const auto& [id, platform] : store.platforms()) {
      store.each_winner(
          id, [&](const StoredWinner&) { ++counts.first; },
          [&](const DamagedWinner& damaged) {
            ++counts.second;
            EXPECT_FALSE(damaged.fault.empty());
          });
    }
    return counts;
  };
  const auto [all, none] = briefs(file_);
  ASSERT_EQ(none, 0U);
  for (const auto& [name, other] : other_values(file_, "winners")) {
    if (name == "platform_id" || name == "m") continue;  // a row of another key is told as that
    const auto [sound, damaged] = briefs(changed("UPDATE winners SET " + name + " = " + other +
                                                 " WHERE m = (SELECT max(m) FROM winners)"));
    EXPECT_EQ(sound, all - 1) << name;
    EXPECT_LE(damaged, 1U) << name;
  }
}

/// The id of a platform means nothing by itself.
TEST_F(SealTest, AWinnerOfAnotherPlatformIsNoAnswer) {
  const auto file = changed("UPDATE winners SET platform_id = 3 - platform_id");
  const Store store(file, Access::read);
  int answers = 0;
  int refused = 0;
  for (const auto& [id, platform] : store.platforms()) {
    store.each_winner(
        id, [&](const StoredWinner&) { ++answers; }, [&](const DamagedWinner&) { ++refused; });
  }
  EXPECT_EQ(answers, 0);
  EXPECT_GT(refused, 0);
}

}  // namespace
}  // namespace overlaptune
