// libFuzzer: a database file of any bytes, through the commands that read all of it: `db check`,
// `db export`, and `db merge` into a new one. They refuse a damaged file in one line; and the
// others can read a file in which `check` finds nothing wrong.

#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>
#include <string>

#include "db/store.hpp"
#include "no_pause.hpp"
#include "require.hpp"
#include "scratch_file.hpp"

namespace overlaptune::fuzz {
namespace {

/// The message of the failure; absent if there was none.
std::optional<std::string> failure_of(const std::function<void()>& work) {
  try {
    work();
  } catch (const Failure& failure) {
    const std::string said = failure.what();
    require(failure.kind() == ErrorKind::bad_database, "damage: " + said);
    require(said.find('\n') == said.npos, "one line: " + said);
    return said;
  }
  return std::nullopt;
}

/// Asks as the commands do, and checks that a winner that is looked up is the one that is listed.
void ask(const Store& store) {
  (void)store.info();
  for (const StoredPlatform& stored : store.platforms()) {
    (void)store.platform(stored.platform.name);
    (void)store.measurements(stored.id);
    (void)store.last_tuning_run(stored.id);
  }
  for (const StoredWinner& stored : store.winners()) {
    const Candidate& listed = stored.winner.candidate;
    (void)store.candidates(stored.run, listed.problem, listed.launch);
    for (int again = 0; again < 2; ++again) {  // from the file, then from memory
      const auto found = store.winner(stored.platform, listed.problem, listed.launch);
      if (!found) throw Failure(ErrorKind::bad_database, "a winner that its key does not find");
      require(found->winner == stored.winner, "the winner of that key");
    }
  }
}

/// `db merge` of it into a new database.
void merge_into_new(const Store& store) {
  const ScratchFile merged("merged", {});
  std::filesystem::remove(merged.path());
  Store(merged.path(), Access::create).merge(store);
}

void read_all(const Store& store) {
  const bool sound = store.check().empty();
  const auto asking = failure_of([&] { ask(store); });
  require(!asking || !sound, "a sound database that can be asked: " + asking.value_or(""));
  std::ostringstream document;
  const auto exporting = failure_of([&] { export_json(store, document); });
  require(!exporting || !sound, "a sound database that can be exported: " + exporting.value_or(""));
  const auto merging = failure_of([&] { merge_into_new(store); });
  require(!merging || !sound, "a sound database that can be merged: " + merging.value_or(""));
}

/// Opens the file as a command that writes does: it is brought up to date and its rows are counted,
/// or it is refused. Nothing is stored.
void open_to_write(const std::string& file) {
  try {
    Store store(file, Access::write);
    store.confirm_place();
  } catch (const Failure& failure) {
    require(std::string(failure.what()).find('\n') == std::string::npos, "one line");
  }
}

}  // namespace
}  // namespace overlaptune::fuzz

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace overlaptune;
  const fuzz::ScratchFile file("store", {data, size});
  std::optional<Store> store;
  try {
    store.emplace(file.path(), Access::read);
  } catch (const Failure& failure) {
    fuzz::require(failure.kind() == ErrorKind::bad_database, failure.what());
    return 0;
  }
  fuzz::read_all(*store);
  store.reset();
  fuzz::open_to_write(file.path());
  return 0;
}
