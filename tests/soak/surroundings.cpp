// Remains of others beside a database or in it: half transactions, logs of another state,
// objects in the schema, another file under the name. Nothing of it is answered from or destroyed.

#include <csignal>

#include <SQLiteCpp/SQLiteCpp.h>

#include "sample.hpp"
#include "tests/db/processes.hpp"

namespace overlaptune::soak {
namespace {

namespace fs = std::filesystem;
using Fault = std::optional<std::string>;

void clear(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().filename().string().starts_with("f.db")) fs::remove(entry.path());
  }
}

/// Whether the file is refused for this kind of failure.
bool refuses(const fs::path& file, Access access, ErrorKind kind) {
  try {
    const Store store(file, access);
  } catch (const Failure& failure) {
    return failure.kind() == kind;
  }
  return false;
}

Fault journal(const fs::path& file, Bench& bench) {
  const auto statements = 1 + bench.below(3);
  samples::Child other([&] {
    SQLite::Database database(file.string(), SQLite::OPEN_READWRITE);
    database.exec(
        "PRAGMA journal_mode = DELETE; PRAGMA cache_size = 1; PRAGMA synchronous = OFF; BEGIN "
        "EXCLUSIVE; UPDATE measurements SET probe = probe || 'x'");
    if (statements > 1) database.exec("DELETE FROM winners");
    if (statements > 2) database.exec("UPDATE candidates SET reason = reason || 'xx'");
    raise(SIGKILL);
    return 0;
  });
  (void)other.wait();
  const std::string bytes = samples::read_bytes(file);
  const bool is_hot =
      fs::exists(file.string() + "-journal") && fs::file_size(file.string() + "-journal") > 0;
  for (const auto access : {Access::read, Access::write}) {
    if (is_hot && !refuses(file, access, ErrorKind::cannot_write)) return "half is read";
  }
  if (is_hot && samples::read_bytes(file) != bytes) return "a refused file changed";
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec("SELECT 1 FROM sqlite_schema");
  const Answers found = answers(file, {1});
  if (found.wrong || found.exact != kWinners) return "answers are lost after the rollback";
  return std::nullopt;
}

/// The log of a state in which some winners are of the second edition, beside the first state.
Fault foreign_log(const fs::path& file, Bench& bench) {
  const std::string older = samples::read_bytes(file);
  const auto before = samples::content(Store(file, Access::read));
  std::string log;
  samples::Content after;
  {
    Store store(file, Access::write);
    const auto run = store.last_tuning_run(store.platforms().front().id)->id;
    const std::size_t checkpoint = bench.below(kWinners);
    for (std::size_t i = 0; i < kWinners; ++i) {
      if (bench.below(2) == 0) store.put_winner(run, stored::winner(static_cast<int>(i), 2));
      if (i != checkpoint) continue;
      SQLite::Database(file.string(), SQLite::OPEN_READWRITE)
          .exec("PRAGMA wal_checkpoint(TRUNCATE)");
    }
    log = samples::read_bytes(file.string() + "-wal");
    after = samples::content(store);
  }
  clear(bench.folder);
  samples::write_bytes(file, older);
  samples::write_bytes(file.string() + "-wal", log);
  const Answers found = answers(file, {1, 2});
  if (found.wrong) return found.wrong;
  const Store store(file, Access::read);
  if (!store.check().empty()) return std::nullopt;
  const auto content = samples::content(store);
  if (content == before || content == after) return std::nullopt;
  return "a mixture of two states is sound";
}

Fault schema_object(const fs::path& file, Bench& bench) {
  static const std::vector<std::string> objects{
      "CREATE TRIGGER x BEFORE INSERT ON {} BEGIN SELECT raise(ignore); END",
      "CREATE TRIGGER x AFTER UPDATE ON {} BEGIN DELETE FROM winners; END",
      "CREATE VIEW x AS SELECT * FROM {}", "CREATE TABLE x AS SELECT * FROM {}",
      "CREATE INDEX x ON {} (1)"};
  static const std::vector<std::string> tables{"winners", "candidates", "measurements", "tallies"};
  const std::string sql = fmt::format(fmt::runtime(objects[bench.below(objects.size())]),
                                      tables[bench.below(tables.size())]);
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE).exec(sql);
  const auto access = bench.below(2) == 0 ? Access::read : Access::write;
  if (!refuses(file, access, ErrorKind::bad_database)) return "not refused: " + sql;
  return std::nullopt;
}

Fault moved_file(const fs::path& file, Bench& bench) {
  const std::string bytes = samples::read_bytes(file);
  const std::size_t way = bench.below(3);
  {
    Store store(file, Access::write);
    samples::fill(store, bench.random(), static_cast<int>(1 + bench.below(16)));
    fs::remove(file);
    if (way > 0) samples::write_bytes(file, bytes);
    if (way > 1) fs::remove(file.string() + "-wal");
    try {
      store.confirm_place();
      return "not noticed";
    } catch (const Failure& failure) {
      if (failure.kind() != ErrorKind::cannot_write) return std::string(failure.what());
    }
  }
  if (way == 0) return fs::exists(file.string() + "-wal") ? Fault("a log is left") : Fault();
  if (samples::read_bytes(file) != bytes) return "what took the name changed";
  const Answers found = answers(file, {1});
  if (found.wrong || found.exact != kWinners) return "what took the name is damaged";
  return std::nullopt;
}

}  // namespace

Tally disturb_surroundings(Bench& bench) {
  static const std::vector<std::pair<const char*, Fault (*)(const fs::path&, Bench&)>> kinds{
      {"journal", journal},
      {"log of another state", foreign_log},
      {"object in the schema", schema_object},
      {"moved file", moved_file}};
  const auto file = bench.folder / "f.db";
  make_sample(bench.folder / "sound.db");
  const std::string sound = samples::read_bytes(bench.folder / "sound.db");
  Tally tally;
  while (bench.has_time()) {
    clear(bench.folder);
    samples::write_bytes(file, sound);
    const auto& [name, disturb] = kinds[bench.below(kinds.size())];
    const Fault fault = disturb(file, bench);
    tally.count(!fault, fmt::format("{}: {}", name, fault.value_or("")));
  }
  return tally;
}

}  // namespace overlaptune::soak
