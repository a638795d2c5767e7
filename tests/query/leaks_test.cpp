// Opening and closing for a long time, in a process of its own (open_and_close.cpp).

#include <cstdlib>
#include <iostream>
#include <string>

#include <gtest/gtest.h>

#include "stored.hpp"
#include "tests/abi/command.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

TEST(LeaksTest, ManyCyclesLeaveNothingBehind) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  // LeakSanitizer finds a leak of a single cycle, and the program then fails. Use of memory that
  // grows slowly is judged without a sanitizer.
  setenv("SANITIZED", "1", 1);
  const std::string cycles = "1000";
#else
  const std::string cycles = "10000";
#endif
  // Small blocks that malloc keeps for a thread would be counted as in use.
  setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
  const TemporaryFolder folder;
  stored::put_winners(folder / "a.db", 3);
  const auto said = output_of(std::string(OPEN_AND_CLOSE) + " '" + std::string(folder / "a.db") +
                              "' " + cycles + " 2>&1");
  std::cout << said;
}

}  // namespace
}  // namespace overlaptune
