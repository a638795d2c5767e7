#include "query/platform_choice.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace overlaptune {
namespace {

using Databases = std::span<const std::vector<Platform>>;

std::string names(Databases stored) {
  std::vector<std::string> list;
  for (const auto& platforms : stored) {
    for (const Platform& platform : platforms) {
      const std::string name = full_name(platform);
      if (std::find(list.begin(), list.end(), name) == list.end()) list.push_back(name);
    }
  }
  return list.empty() ? "none" : fmt::format("{}", fmt::join(list, ", "));
}

Expected<PlatformChoice> named(Databases stored, const std::string& name) {
  const Platform* found = nullptr;
  for (const auto& platforms : stored) {
    for (const Platform& platform : platforms) {
      if (fingerprint(platform) == name) return PlatformChoice{platform, true};
      if (!is_named(platform, name)) continue;
      if (found != nullptr && *found != platform) {
        return bad_input(fmt::format(
            "platform '{}': several are stored ({} with fingerprint {}, {} with {}, ...), which "
            "differ in {}; name one by machine and name, or by its fingerprint",
            name, full_name(*found), fingerprint(*found), full_name(platform),
            fingerprint(platform), fmt::join(differences(*found, platform), "; ")));
      }
      found = &platform;
    }
  }
  if (found != nullptr) return PlatformChoice{*found, true};
  return bad_input(fmt::format(
      "platform '{}': no such name or fingerprint is stored; stored are: {}", name, names(stored)));
}

Expected<PlatformChoice> newest_real(Databases stored) {
  for (const auto& platforms : stored) {
    const auto found = std::find_if_not(platforms.rbegin(), platforms.rend(), is_simulated);
    if (found != platforms.rend()) return PlatformChoice{*found, true};
  }
  return bad_input(
      fmt::format("no platform of real GPUs is stored (stored are: {}); tune on the GPUs first, or "
                  "name a simulated platform to have its answers",
                  names(stored)));
}

PlatformChoice described(Databases stored, const Platform& platform) {
  std::vector<std::string> fewest;
  const Platform* nearest = nullptr;
  for (const auto& platforms : stored) {
    for (const Platform& there : platforms) {
      if (there == platform) return {platform, true};
      if (is_simulated(there) != is_simulated(platform)) continue;
      auto list = differences(platform, there);
      if (nearest != nullptr && list.size() >= fewest.size()) continue;
      nearest = &there;
      fewest = std::move(list);
    }
  }
  if (nearest == nullptr) {
    return {platform, false,
            fmt::format("nothing is stored for {} machines",
                        is_simulated(platform) ? "simulated" : "real")};
  }
  return {platform, false,
          fmt::format("no result is stored for this platform; {} differs in {}",
                      full_name(*nearest), fmt::join(fewest, "; "))};
}

}  // namespace

Expected<PlatformChoice> choose_platform(Databases stored, const PlatformWish& wish) {
  if (wish.described) return described(stored, *wish.described);
  return wish.name.empty() ? newest_real(stored) : named(stored, wish.name);
}

}  // namespace overlaptune
