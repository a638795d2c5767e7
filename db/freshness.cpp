#include "db/freshness.hpp"

#include <sqlite3.h>

namespace overlaptune::db {

std::optional<Stamp> stamp(SQLite::Database& database) {
  constexpr int kRegionBytes = 32768;  // fixed by the file format
  sqlite3_file* file = nullptr;
  const int found = sqlite3_file_control(database.getHandle(), "main", SQLITE_FCNTL_FILE_POINTER,
                                         static_cast<void*>(&file));
  if (found != SQLITE_OK || file == nullptr || file->pMethods == nullptr ||
      file->pMethods->iVersion < 2 || file->pMethods->xShmMap == nullptr) {
    return std::nullopt;
  }
  volatile void* region = nullptr;
  if (file->pMethods->xShmMap(file, 0, kRegionBytes, 0, &region) != SQLITE_OK ||
      region == nullptr) {
    return std::nullopt;
  }
  const auto* words = static_cast<volatile std::uint32_t*>(region);
  Stamp copy{};
  for (std::size_t i = 0; i < copy.size(); ++i) copy[i] = words[i];
  return copy;
}

}  // namespace overlaptune::db
