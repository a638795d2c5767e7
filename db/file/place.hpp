#pragma once
// The place of a file that is open for writing: whether its name still means this file.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "db/file/connection.hpp"

namespace overlaptune::db {

/// When the rows are counted again.
enum class Recount {
  when_due,  ///< when the file was written to, and counting has not just taken its share of the
             ///< time
  now,
};

class Place {
 public:
  explicit Place(Connection& connection);

  /// Changes that others made to the file or its log; none where nobody did. To be asked before
  /// each commit: the first answer knows the file as it is then. Whether another file was copied
  /// over this one shows in the rows (db/tallies.hpp). Others wait while they are counted, and
  /// every checkpoint of any writer is a reason to count, so that takes a hundredth of the time at
  /// most.
  [[nodiscard]] std::optional<std::string> change(Recount recount);

  /// Gives the file up: its log is not written into it, and goes with the memory shared with others
  /// if both are still those of this file. SQLite would take them for parts of any file that gets
  /// the name.
  void give_up();

 private:
  /// Signs that somebody writes into the file, or takes the log away.
  struct Seen {
    std::int64_t bytes = 0;
    std::int64_t written_s = 0;
    std::int64_t written_ns = 0;
    std::uint64_t log = 0;  ///< the number of its inode
    friend bool operator==(const Seen&, const Seen&) = default;
  };

  [[nodiscard]] bool has_moved();
  [[nodiscard]] Seen look() const;
  [[nodiscard]] bool is_due(const Seen& now, Recount recount) const;
  [[nodiscard]] bool rows_are_missing();
  [[nodiscard]] bool lacks_rows();

  Connection& connection_;
  std::string file_;            ///< without links, as SQLite knows it
  std::optional<Seen> seen_{};  ///< when the rows were counted last
  bool was_sound_ = false;
  std::chrono::steady_clock::time_point due_{};  ///< of the next count
};

}  // namespace overlaptune::db
