#pragma once
// The file that a new database is made in, before it gets its own name.

#include <filesystem>

namespace overlaptune::db {

/// An empty file beside another one, locked (flock) so that others know that somebody works on it.
/// The destructor removes it, and all files that SQLite puts beside it. Throws `Failure`
/// (`cannot_write`).
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::filesystem::path& file);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
};

/// Removes the temporary files beside `file` of processes that were killed. What cannot be removed
/// stays.
void remove_abandoned(const std::filesystem::path& file);

}  // namespace overlaptune::db
