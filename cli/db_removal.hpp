#pragma once
// The subcommands of `overlaptune db` that take rows away.

#include <string>
#include <vector>

#include "cli/command.hpp"

namespace overlaptune::cli {

/// Adds `prune` and `delete` to the command `db`.
void add_db_removal(CLI::App& group, Session& session);

/// The full name of the platform with this id; "?" where there is none.
[[nodiscard]] std::string name_among(const std::vector<StoredPlatform>& platforms, PlatformId id);

}  // namespace overlaptune::cli
