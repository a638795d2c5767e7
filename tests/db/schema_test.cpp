// The schema: a database that was made new has it, files of other programs are refused in words.

#include "db/schema.hpp"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "processes.hpp"
#include "samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

db::Connection empty() {
  return {":memory:", ":memory:", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE};
}

TEST(SchemaTest, ItsDigestIsKnown) {
  db::Connection memory = empty();
  db::create_schema(memory);
  EXPECT_TRUE(db::has_known_digest(memory));
  EXPECT_EQ(db::schema_fault(memory), std::nullopt);
  memory.execute("DROP INDEX tuning_runs_of_platform");
  EXPECT_FALSE(db::has_known_digest(memory));
  EXPECT_EQ(db::schema_fault(memory),
            "damaged schema (index tuning_runs_of_platform is missing); restore a copy");
}

TEST(SchemaTest, AFileOfAProgramBeforeTheFirstReleaseIsRefusedWithWhatToDo) {
  const TemporaryFolder folder;
  const auto file = folder / "old.db";
  { const Store made(file, Access::create); }
  {
    db::Connection connection(file, file.string(), SQLite::OPEN_READWRITE);
    connection.execute("PRAGMA user_version = 9");
  }
  const std::string bytes = samples::read_bytes(file);
  for (const Access access : {Access::read, Access::settled, Access::write}) {
    const auto message =
        samples::failure(ErrorKind::bad_database, [&] { const Store store(file, access); });
    EXPECT_NE(message.find("has schema version 9, of a program before the first release"),
              std::string::npos)
        << message;
  }
  EXPECT_EQ(samples::read_bytes(file), bytes);
}

/// SQLite converts texts of another encoding when they are read, and leaves them in the file.
TEST(SchemaTest, TextsOfAnotherEncodingAreTheSame) {
  const TemporaryFolder folder;
  const auto file = folder / "utf16.db";
  {
    db::Connection connection(file, file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    connection.execute("PRAGMA encoding = 'UTF-16'");
    db::create_schema(connection);
  }
  Store store(file, Access::write);
  samples::fill(store, 6, 20);
  Store same(folder / "utf8.db", Access::create);
  samples::fill(same, 6, 20);
  const auto found = samples::content(store);
  const auto expected = samples::content(same);
  EXPECT_GT(found.candidates.size(), 10U);
  EXPECT_EQ(found.candidates, expected.candidates);
  EXPECT_EQ(found.winners, expected.winners);
  EXPECT_TRUE(store.check().empty());
}

}  // namespace
}  // namespace overlaptune
