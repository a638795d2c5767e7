#pragma once
// The state of processes, from /proc.

#include <chrono>
#include <filesystem>
#include <fstream>
#include <poll.h>
#include <string>
#include <sys/types.h>
#include <vector>

namespace overlaptune::cuda {

/// State letter and parent of a process; state 0 if there is none.
struct ProcessState {
  char state = 0;
  pid_t parent = 0;
};

inline ProcessState state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(')');
  if (name_end == std::string::npos || name_end + 4 >= text.size()) return {};
  return {.state = text[name_end + 2],
          .parent = static_cast<pid_t>(std::stol(text.substr(name_end + 4)))};
}

/// Whether the process runs. One that has ended, but was not waited for yet, does not.
inline bool runs(pid_t pid) {
  const char state = state_of(pid).state;
  return state != 0 && state != 'Z' && state != 'X';
}

template <class Condition>
std::vector<pid_t> processes_that(Condition condition) {
  std::vector<pid_t> processes;
  for (const auto& entry : std::filesystem::directory_iterator("/proc")) {
    const std::string name = entry.path().filename().string();
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    const auto pid = static_cast<pid_t>(std::stol(name));
    if (condition(pid) && runs(pid)) processes.push_back(pid);
  }
  return processes;
}

inline std::vector<pid_t> children_of(pid_t parent) {
  return processes_that([parent](pid_t pid) { return state_of(pid).parent == parent; });
}

/// Processes that have this variable ("NAME=value") in their environment.
inline std::vector<pid_t> processes_with(const std::string& variable) {
  return processes_that([&variable](pid_t pid) {
    std::ifstream file("/proc/" + std::to_string(pid) + "/environ");
    for (std::string each; std::getline(file, each, '\0');) {
      if (each == variable) return true;
    }
    return false;
  });
}

/// Whether the condition holds within ten seconds.
template <class Condition>
bool soon(Condition condition) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > deadline) return false;
    poll(nullptr, 0, 10);
  }
  return true;
}

}  // namespace overlaptune::cuda
