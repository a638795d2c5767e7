#pragma once
// What a library shows to those who link to it.

#include <array>
#include <cstdio>
#include <sstream>
#include <string>
#include <sys/wait.h>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune {

/// What a command prints; its exit code must be `code`.
inline std::string output_of(const std::string& command, int code = 0) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string text;
  std::array<char, 4096> buffer{};
  while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  const int status = pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == code) << command << ": " << status;
  return text;
}

/// Names of the functions and data that other code could link to, without their versions. `nm`: the
/// command, with a flag that says which.
inline std::vector<std::string> symbols(const std::string& nm, const std::string& library) {
  std::istringstream lines(output_of(nm + " --defined-only --format=posix '" + library + "'"));
  std::vector<std::string> names;
  std::string line;
  while (std::getline(lines, line)) {
    const auto name = line.substr(0, line.find_first_of(" @"));
    const bool symbol = line.find(' ') != line.npos && line.find(": ") == line.npos;
    if (symbol && name != "OVERLAPTUNE_0.1") names.push_back(name);
  }
  return names;
}

}  // namespace overlaptune
