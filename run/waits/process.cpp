#include "run/waits/process.hpp"

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace overlaptune::run {
namespace {

struct State {
  char letter = 0;  ///< `Z`: ended, and its parent has not looked yet
  std::uint64_t start = 0;
};

constexpr char kGone = 'X';  // as proc(5) has it

/// The text of a file; absent where it cannot be read, with the reason in `errno`.
std::optional<std::string> text_of(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (file == nullptr) return std::nullopt;
  std::string text(4096, 0);
  text.resize(std::fread(text.data(), 1, text.size(), file));
  const int error = text.empty() ? errno : 0;
  static_cast<void>(std::fclose(file));
  errno = error;
  return text.empty() ? std::nullopt : std::optional(text);
}

/// A process by /proc/PID/stat; absent where it does not tell, as when there are no files left.
std::optional<State> state_of(std::int64_t pid) {
  const std::optional<std::string> text = text_of(fmt::format("/proc/{}/stat", pid));
  if (!text) return errno == ENOENT || errno == ESRCH ? std::optional(State{kGone}) : std::nullopt;
  // The name, in parentheses, may have spaces and parentheses.
  const std::size_t behind_name = text->rfind(')');
  if (behind_name == std::string::npos) return std::nullopt;
  std::istringstream fields(text->substr(behind_name + 1));
  State state;
  fields >> state.letter;
  std::string skipped;
  constexpr int kBetween = 18;  // fields between the state and the start (proc(5): 3 and 22)
  for (int i = 0; i < kBetween; ++i) fields >> skipped;
  fields >> state.start;
  if (!fields) return std::nullopt;
  return state;
}

}  // namespace

Process this_process() {
  Process process;
  std::ifstream boot("/proc/sys/kernel/random/boot_id");
  boot.getline(process.boot.data(), static_cast<std::streamsize>(process.boot.size()));
  struct stat space {};
  const auto state = state_of(getpid());
  if (!state || !boot || stat("/proc/self/ns/pid", &space) != 0) return {};
  process.pids = space.st_ino;
  process.pid = getpid();
  process.start = state->start;
  return process;
}

bool is_visible(const Process& process) {
  static const Process own = this_process();
  return own.pid != 0 && process.pid != 0 && process.boot == own.boot && process.pids == own.pids;
}

bool has_ended(const Process& process) {
  if (!is_visible(process)) return false;
  const auto state = state_of(process.pid);
  if (!state) return false;
  return state->start != process.start || state->letter == 'Z' || state->letter == kGone;
}

}  // namespace overlaptune::run
