#include "db/file/file_header.hpp"

#include <algorithm>
#include <array>
#include <unistd.h>

#include <fmt/format.h>
#include <sqlite3.h>

#include "db/schema.hpp"

namespace overlaptune::db {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic{"SQLite format 3\0", 16};

Failure refused(const fs::path& file, std::string_view text) {
  return {ErrorKind::bad_database, about(file, text)};
}

/// The first 100 bytes of a database (sqlite.org/fileformat.html, section 1.3).
using Header = std::array<unsigned char, 100>;

std::uint32_t big_endian(const Header& header, std::size_t offset) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < 4; ++i) value = value << 8 | header[offset + i];
  return value;
}

/// The header; all zero if the file is shorter.
Header read_header(Connection& connection) {
  sqlite3_file* file = nullptr;
  (void)sqlite3_file_control(connection.database().getHandle(), "main", SQLITE_FCNTL_FILE_POINTER,
                             static_cast<void*>(&file));
  Header header{};
  if (file == nullptr || file->pMethods == nullptr ||
      file->pMethods->xRead(file, header.data(), static_cast<int>(header.size()), 0) != SQLITE_OK) {
    return {};
  }
  return header;
}

}  // namespace

fs::path beside(const fs::path& file, std::string_view suffix) {
  std::error_code error;
  const fs::path whole = fs::canonical(file, error);
  return error ? fs::path() : fs::path(whole.string().append(suffix));
}

bool has_log(const fs::path& file) {
  std::error_code error;
  const auto size = fs::file_size(beside(file, "-wal"), error);
  return !error && size > 0;
}

void check_place(const fs::path& file) {
  std::error_code error;
  if (!fs::is_regular_file(file, error)) throw refused(file, "is not a file; name a database file");
  for (const char* suffix : {"-wal", "-shm", "-journal"}) {
    const auto status = fs::status(beside(file, suffix), error);
    if (fs::exists(status) && !fs::is_regular_file(status)) {
      throw refused(file, fmt::format("the name with {} is not a file; remove that", suffix));
    }
  }
  if (fs::file_size(file, error) == 0) {
    throw refused(file, "is empty; remove it, or name another file");
  }
  if (access(file.c_str(), R_OK) != 0) {
    throw Failure(ErrorKind::bad_input, about(file, "cannot be read; check its permissions"));
  }
}

void check_header(Connection& connection) {
  const fs::path& file = connection.file();
  const Header header = read_header(connection);
  if (!std::equal(kMagic.begin(), kMagic.end(), header.begin())) {
    throw refused(file, "is not an SQLite database; name another file");
  }
  if (big_endian(header, 68) != kApplicationId) {
    throw refused(file, "is an SQLite database of another program; name another file");
  }
  const auto page_bytes = std::uint64_t{header[16]} << 8 | std::uint64_t{header[17]};
  const std::uint64_t pages = big_endian(header, 28);
  const bool pages_are_valid = big_endian(header, 24) == big_endian(header, 92);
  const std::uint64_t expected = (page_bytes == 1 ? 65536 : page_bytes) * pages;
  std::error_code error;
  const std::uint64_t present = fs::file_size(file, error);
  if (pages_are_valid && present < expected && !has_log(file)) {
    throw refused(file,
                  fmt::format("cut short ({} of {} bytes); restore a copy", present, expected));
  }
}

}  // namespace overlaptune::db
