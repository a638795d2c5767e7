#pragma once
// The database of shipped results, which lies read-only under a user's databases.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "core/platform.hpp"

namespace overlaptune {

struct SystemDatabase {
  std::filesystem::path file{};
  bool is_named = false;  ///< by OVERLAPTUNE_SYSTEM_DB: then it must be readable
};

/// The file that OVERLAPTUNE_SYSTEM_DB names; without this variable the one that was installed with
/// the library or program that contains this code, or else at the prefix of the build. None where
/// the variable is empty, and where nothing is installed.
[[nodiscard]] std::optional<SystemDatabase> system_database();

/// Whether results of `there` may answer for `here`: real machines with the same GPUs (model,
/// number, SMs), links, and permission for multicast. Driver, CUDA, NCCL, memory and limits of
/// power and clock may differ.
[[nodiscard]] bool is_alike(const Platform& here, const Platform& there);

/// The platform of `stored` that is alike and differs in the fewest fields, the newest of several;
/// null where there is none.
[[nodiscard]] const Platform* nearest_alike(const Platform& here,
                                            const std::vector<Platform>& stored);

}  // namespace overlaptune
