#include "core/nccl_variables.hpp"

#include <array>
#include <fstream>
#include <pwd.h>
#include <unistd.h>

#include "core/base/environment.hpp"

namespace overlaptune {
namespace {

/// The home in the list of users, as NCCL takes it; $HOME may be another one.
std::string home() {
  std::array<char, 4096> texts{};
  passwd user{};
  passwd* found = nullptr;
  const bool is_known =
      getpwuid_r(getuid(), &user, texts.data(), texts.size(), &found) == 0 && found != nullptr;
  return is_known ? user.pw_dir : "";
}

std::optional<std::string> value_in(const std::string& file, const std::string& name) {
  std::ifstream lines(file);
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with('#') && line.starts_with(name + "=")) return line.substr(name.size() + 1);
  }
  return std::nullopt;
}

}  // namespace

std::vector<std::string> nccl_files() {
  const auto chosen = process_variables()("NCCL_CONF_FILE");
  const bool has_choice = chosen && !chosen->empty();
  return {has_choice ? *chosen : home() + "/.nccl.conf", "/etc/nccl.conf"};
}

std::optional<std::string> nccl_variable(const std::string& name,
                                         const std::vector<std::string>& files) {
  if (auto value = process_variables()(name.c_str())) return value;
  for (const std::string& file : files) {
    if (auto value = value_in(file, name)) return value;
  }
  return std::nullopt;
}

}  // namespace overlaptune
