#pragma once
// Which of the stored platforms a caller's questions are about.

#include <optional>
#include <span>
#include <string>

#include "core/platform.hpp"

namespace overlaptune {

/// What a caller says of the platform; nothing at all: the real one that was stored last.
struct PlatformWish {
  std::string name{};  ///< name or fingerprint of a stored one, simulated ones included
  std::optional<Platform> described{};
};

struct PlatformChoice {
  Platform platform{};
  bool stored = false;
  /// Where it is not: which of the stored ones is nearest, and what differs.
  std::string unlike{};
};

/// `stored`: the platforms of all databases; those of the first one first, each in the order in
/// which they were added. Only a platform that is equal in every field stands for a described one,
/// and one of another kind of machine (simulated, real) is not even compared with it.
/// Error: none of that name, several that differ, or no real one and none named.
[[nodiscard]] Expected<PlatformChoice> choose_platform(
    std::span<const std::vector<Platform>> stored, const PlatformWish& wish);

}  // namespace overlaptune
