#pragma once
// Results of the system database for a platform whose GPUs and links are the same as those of the
// platform that is asked about.

#include <filesystem>
#include <optional>
#include <string>

#include "query/system_database.hpp"
#include "query/winners.hpp"

namespace overlaptune {

struct Elsewhere {
  std::filesystem::path file{};
  Platform platform{};       ///< where it was tuned
  std::string difference{};  ///< "driver_version: 590 here, 580 there; tuned on host a"
  Winners winners{};         ///< with times that are predictions for here
};

/// The results for a platform alike `here`. None where the system database has none, and where it
/// cannot be read; `why_not` then says why. Throws `Failure`, as `Store` does, if the user named
/// the file.
[[nodiscard]] std::optional<Elsewhere> read_elsewhere(const SystemDatabase& system,
                                                      const Platform& here, std::string& why_not);

/// The platform of the system database that is named. None where there is none, or several.
[[nodiscard]] std::optional<Platform> platform_elsewhere(const SystemDatabase& system,
                                                         const std::string& name);

}  // namespace overlaptune
