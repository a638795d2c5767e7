#include "machine/catalogue.hpp"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "machine/sim/json_reader.hpp"
#include "machine/sim/sim_machine.hpp"

namespace overlaptune {
namespace {

constexpr std::string_view kSimPrefix = "sim:";
constexpr std::string_view kNoCuda =
    "this build has no CUDA support; use a simulated machine (sim:...)";

Expected<sim::Profile> read_profile(const std::filesystem::path& path) {
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(path, ignored)) {
    return bad_input(fmt::format("--profile {}: expected a JSON file", path.string()));
  }
  std::ifstream file(path, std::ios::binary);
  if (!file) {
    return bad_input(fmt::format("--profile {}: cannot be read", path.string()));
  }
  // One byte more than allowed is enough to refuse a file of any size.
  std::string text(sim::kLargestProfile + 1, '\0');
  file.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(file.gcount()));
  return sim::parse_profile(text, path.string());
}

/// The built-in profiles, the default one first, then those of the options.
Expected<std::vector<sim::Profile>> all_profiles(const MachineOptions& options) {
  std::vector<sim::Profile> profiles;
  for (const sim::EmbeddedProfile& embedded : sim::embedded_profiles()) {
    profiles.push_back(value_or_throw(sim::parse_profile(embedded.text, embedded.name)));
  }
  for (const std::filesystem::path& path : options.profiles) {
    auto profile = read_profile(path);
    if (!profile) return tl::make_unexpected(profile.error());
    for (const sim::Profile& known : profiles) {
      if (known.name == profile->name) {
        return bad_input(fmt::format("{}: name: '{}' is taken by another profile; choose another",
                                     path.string(), profile->name));
      }
    }
    profiles.push_back(std::move(*profile));
  }
  return profiles;
}

}  // namespace

Expected<std::vector<MachineEntry>> list_machines(const MachineOptions& options) {
  const auto profiles = all_profiles(options);
  if (!profiles) return tl::make_unexpected(profiles.error());
  std::vector<MachineEntry> entries;
  for (const sim::Profile& profile : *profiles) {
    entries.push_back(
        {.name = std::string(kSimPrefix) + profile.name, .description = profile.description});
  }
  entries.push_back({.name = "cuda",
                     .description = "the GPUs of this host",
                     .available = false,
                     .reason = std::string(kNoCuda)});
  return entries;
}

Expected<std::unique_ptr<Machine>> open_machine(std::string_view name,
                                                const MachineOptions& options) {
  if (name == "cuda") {
    return tl::make_unexpected(
        Error{ErrorKind::machine_unavailable, fmt::format("machine cuda: {}", kNoCuda)});
  }
  auto profiles = all_profiles(options);
  if (!profiles) return tl::make_unexpected(profiles.error());
  const auto faults = sim::parse_faults(options.faults);
  if (!faults) return tl::make_unexpected(faults.error());

  std::vector<std::string> known{"auto", "cuda"};
  for (sim::Profile& profile : *profiles) {
    const std::string own = std::string(kSimPrefix) + profile.name;
    // Without GPUs "auto" is the first profile.
    if (name == own || name == "auto") {
      return std::make_unique<sim::SimMachine>(
          std::move(profile), sim::SimOptions{.seed = options.seed, .faults = *faults});
    }
    known.push_back(own);
  }
  return bad_input(fmt::format("machine '{}': expected one of {}", name, fmt::join(known, ", ")));
}

}  // namespace overlaptune
