// `Store::confirm_place`: notices that the file went while it was in use, and keeps its rows in
// another one.

#include <fmt/format.h>

#include "db/file/copy.hpp"
#include "db/impl.hpp"

namespace overlaptune {
namespace {

/// Copies all sound rows that can still be read into a new file beside the old one. SQLite reads
/// also a file that has no name any more. Returns what is to be said of it.
std::string rescue(Store::Impl& lost) {
  const auto place = db::name_beside(*lost.connection, "rescued");
  try {
    Store kept(place, Access::create);
    const auto leave_out = std::exchange(lost.leave_out, [](const DamagedRow&) {});
    (void)merge_rows(kept.impl(), lost);
    lost.leave_out = leave_out;
    const DatabaseInfo info = kept.info();
    return fmt::format(
        "what could still be read, {} measurements, {} candidates and {} winners, is in '{}'; give "
        "that file the name, then run again",
        info.measurements, info.candidates, info.winners, place.string());
  } catch (const Failure& failure) {
    std::error_code ignored;
    std::filesystem::remove(place, ignored);
    return fmt::format("its rows could not be kept ({})", failure.what());
  }
}

}  // namespace

void Store::Impl::confirm_place(db::Recount recount) {
  if (lost) throw Failure(*lost);
  if (!place) return;
  const auto change = place->change(recount);
  if (!change) return;
  const std::string kept = rescue(*this);
  place->give_up();
  lost = Failure(ErrorKind::cannot_write,
                 db::about(connection->file(), fmt::format("{}; {}", *change, kept)));
  throw Failure(*lost);
}

void Store::confirm_place() {
  // A transaction, because the rows are counted.
  impl_->connection->write([&] { impl_->confirm_place(db::Recount::now); });
}

}  // namespace overlaptune
