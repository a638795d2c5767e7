#pragma once
// The table that rank 0 prints, and its summary.

#include <cstdio>
#include <string>

#include <fmt/format.h>

namespace overlaptune::plan_check {

struct Results {
  bool printed = false;  ///< this rank prints
  int passed = 0;
  int failed = 0;
  int skipped = 0;
  std::string first_failure{};

  void row(const std::string& name, bool ok, const std::string& found) {
    ++(ok ? passed : failed);
    if (!ok && first_failure.empty()) first_failure = name + ": " + found;
    line(name, ok ? "ok" : "FAILED", found);
  }
  /// A case that cannot be here.
  void skip(const std::string& name, const std::string& why) {
    ++skipped;
    line(name, "skipped", why);
  }
  void line(const std::string& name, const char* status, const std::string& text) const {
    if (printed) print(fmt::format("{:<52} {:<7} {}", name, status, text));
  }
  void print(const std::string& line) const {
    if (!printed) return;
    std::puts(line.c_str());
    std::fflush(stdout);
  }
};

}  // namespace overlaptune::plan_check
