#pragma once
// The schema of the database, its versions, and the migration from one to the next.

#include <cstdint>
#include <optional>
#include <string>

#include "db/connection.hpp"

namespace overlaptune::db {

/// `PRAGMA application_id` of our files: "ovlt" in ASCII.
inline constexpr int kApplicationId = 0x6f766c74;

/// `PRAGMA user_version` of the files that this program writes.
inline constexpr int kSchemaVersion = 9;

/// Migrates an empty database (version 0) or an older one to the version `to`, in one transaction
/// that also checks the foreign keys of the result. If another process has done so already, nothing
/// happens. Foreign keys must be off (tables are rebuilt).
void migrate(Connection& connection, int to = kSchemaVersion);

/// The first part of the schema of this version that is missing or different, or the first object
/// that others added, with what to do; absent if there is none. A trigger could undo what is
/// written, a unique index could refuse it, and a view could take forever.
[[nodiscard]] std::optional<std::string> schema_fault(Connection& connection, int version);

/// The digest of all names and texts in a schema, and the known one of each version. If they are
/// equal, `schema_fault` need not compare the texts.
[[nodiscard]] std::uint64_t schema_digest(Connection& connection);
[[nodiscard]] std::uint64_t known_digest(int version);

}  // namespace overlaptune::db
