#include "query/system_database.hpp"

#include <dlfcn.h>

#include "core/base/environment.hpp"

namespace overlaptune {
namespace {

namespace fs = std::filesystem;

/// The file that this code was loaded from; empty where that is not known.
fs::path own_file() {
  Dl_info info{};
  static const char here = 0;
  if (dladdr(&here, &info) != 0 && info.dli_fname != nullptr && *info.dli_fname == '/') {
    return info.dli_fname;
  }
  std::error_code error;
  return fs::read_symlink("/proc/self/exe", error);  // a program may be called by a relative name
}

/// The first that exists: beside the library of a wheel, beside lib/ or bin/, beside
/// lib/ARCHITECTURE/, at the prefix of the build.
std::optional<fs::path> installed() {
  const fs::path name = fs::path("share") / "overlaptune" / "system.db";
  std::vector<fs::path> places;
  if (const fs::path own = own_file(); !own.empty()) {
    const fs::path folder = own.parent_path();
    places = {folder / name, folder.parent_path() / name,
              folder.parent_path().parent_path() / name};
  }
  places.emplace_back(OVERLAPTUNE_SYSTEM_DATABASE);
  std::error_code error;
  for (fs::path& place : places) {
    if (fs::is_regular_file(place, error)) return std::move(place);
  }
  return std::nullopt;
}

}  // namespace

std::optional<SystemDatabase> system_database() {
  if (const auto named = environment().system_database) {
    if (named->empty()) return std::nullopt;
    std::error_code error;
    const fs::path file = fs::absolute(*named, error);
    return SystemDatabase{.file = error ? fs::path(*named) : file, .is_named = true};
  }
  auto file = installed();
  if (!file) return std::nullopt;
  return SystemDatabase{.file = std::move(*file)};
}

bool is_alike(const Platform& here, const Platform& there) {
  const auto same = [&](auto field) { return here.*field == there.*field; };
  return !is_simulated(here) && same(&Platform::machine) && same(&Platform::gpu_model) &&
         same(&Platform::gpu_count) && same(&Platform::sms) &&
         same(&Platform::compute_capability) && same(&Platform::topology) &&
         same(&Platform::link) && same(&Platform::multicast_allowed);
}

const Platform* nearest_alike(const Platform& here, const std::vector<Platform>& stored) {
  const Platform* nearest = nullptr;
  std::size_t fewest = 0;
  for (const Platform& there : stored) {
    if (!is_alike(here, there)) continue;
    const std::size_t count = differences(here, there).size();
    if (nearest != nullptr && count > fewest) continue;
    nearest = &there;
    fewest = count;
  }
  return nearest;
}

}  // namespace overlaptune
