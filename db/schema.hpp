#pragma once
// The schema of the database.

#include <optional>
#include <string>

#include "db/file/connection.hpp"

namespace overlaptune::db {

/// `PRAGMA application_id` of our files: "ovlt" in ASCII.
inline constexpr int kApplicationId = 0x6f766c74;

/// `PRAGMA user_version` of the files that this program reads and writes. Smaller numbers are of
/// programs before the first release.
inline constexpr int kSchemaVersion = 13;

/// Makes the schema in an empty database, in one transaction.
void create_schema(Connection& connection);

/// The first part of the schema that is missing or different, or the first object that others
/// added, with what to do; absent if there is none. A trigger could undo what is written, a unique
/// index could refuse it, and a view could take forever.
[[nodiscard]] std::optional<std::string> schema_fault(Connection& connection);

/// Whether all names and texts in a schema have the digest of ours. If so, `schema_fault` need not
/// compare the texts.
[[nodiscard]] bool has_known_digest(Connection& connection);

}  // namespace overlaptune::db
