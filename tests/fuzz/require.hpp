#pragma once
// A condition that must hold for every input: where it fails, the fuzzer has found an error.

#include <cstdio>
#include <cstdlib>
#include <string>

namespace overlaptune::fuzz {

inline void require(bool holds, const std::string& what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what.c_str());
  std::abort();
}

}  // namespace overlaptune::fuzz
