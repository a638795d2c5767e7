#pragma once
// The choice of the platform that a caller's questions are about.

#include <optional>
#include <span>
#include <string>

#include "core/platform.hpp"

namespace overlaptune {

/// The platform that a caller asks for. If both fields are empty, it is the real one that was
/// stored last.
struct PlatformWish {
  std::string name{};  ///< name or fingerprint of a stored platform, real or simulated
  std::optional<Platform> described{};
};

struct PlatformChoice {
  Platform platform{};
  bool stored = false;
  /// Where the platform is not stored: the nearest stored one, and how it differs.
  std::string unlike{};
};

/// `stored` has the platforms of all databases, those of the first database first, each in the
/// order in which they were added. A stored platform stands for a described one only if all fields
/// are equal; a simulated one is never compared with a real one. Error: no platform has the name,
/// several that differ have it, or none is named and no real one is stored.
[[nodiscard]] Expected<PlatformChoice> choose_platform(
    std::span<const std::vector<Platform>> stored, const PlatformWish& wish);

}  // namespace overlaptune
