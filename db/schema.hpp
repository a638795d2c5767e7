#pragma once
// The schema of the database, its versions, and the way from one to the next.

#include <cstdint>
#include <optional>
#include <string>

#include "db/connection.hpp"

namespace overlaptune::db {

/// `PRAGMA application_id` of our files: "ovlt" in ASCII.
inline constexpr int kApplicationId = 0x6f766c74;

/// `PRAGMA user_version` that this program writes.
inline constexpr int kSchemaVersion = 6;

/// Takes an empty database (version 0) or an older one to the version `to`, in one transaction that
/// also checks the foreign keys of the outcome. Another process may have been faster: then nothing
/// happens. Foreign keys must be off (tables are rebuilt).
void migrate(Connection& connection, int to = kSchemaVersion);

/// What of the schema of this version is missing or different; absent if all is there. Further
/// tables and indexes do no harm.
[[nodiscard]] std::optional<std::string> schema_fault(Connection& connection, int version);

/// Of all names and texts in a schema, and what it is for each version as we make it: where they
/// are equal, `schema_fault` need not look closer.
[[nodiscard]] std::uint64_t schema_digest(Connection& connection);
[[nodiscard]] std::uint64_t known_digest(int version);

}  // namespace overlaptune::db
