#pragma once
// Programs run by tests.

#include <array>
#include <cstdio>
#include <string>
#include <sys/wait.h>

#include <gtest/gtest.h>

namespace overlaptune {

/// Runs a command and returns what it prints; its exit code must be `code`.
inline std::string output_of(const std::string& command, int code = 0) {
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return "popen failed";
  std::string text;
  std::array<char, 4096> buffer{};
  while (fgets(buffer.data(), buffer.size(), pipe) != nullptr) text += buffer.data();
  const int status = pclose(pipe);
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == code) << command << ": " << status << '\n'
                                                                << text;
  return text;
}

}  // namespace overlaptune
