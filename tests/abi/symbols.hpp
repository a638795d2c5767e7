#pragma once
// The symbols that a library shows to programs that link to it.

#include <sstream>
#include <string>
#include <vector>

#include "tests/abi/command.hpp"

namespace overlaptune {

/// Names of the functions and data that other code could link to, without their versions. `nm`: the
/// command, with a flag that selects the symbols.
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
