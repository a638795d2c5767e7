#pragma once
// Copies of whole databases, page by page.

#include <filesystem>
#include <string>
#include <string_view>

#include "db/file/connection.hpp"

namespace overlaptune::db {

/// Copies all pages over what `to` holds. Throws `Failure` that names the file of `named`, which is
/// one of the two.
void copy_pages(Connection& from, Connection& to, const Connection& named);

/// The place of a database in the file system; empty for one in memory.
[[nodiscard]] std::string place_of(Connection& connection);

/// A name beside the file of a connection: that of the file with `why` and the time.
[[nodiscard]] std::filesystem::path name_beside(Connection& connection, std::string_view why);

/// Writes a copy to `name_beside`. The connection must not be within a transaction that writes.
/// Returns its path.
std::filesystem::path copy_beside(Connection& connection, std::string_view why);

}  // namespace overlaptune::db
