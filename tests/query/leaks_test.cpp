// Opening and closing for a long time, in a process of its own (open_and_close.cpp).

#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "stored.hpp"
#include "tests/abi/command.hpp"

namespace overlaptune {
namespace {

TEST(LeaksTest, TenThousandCyclesLeaveNothingBehind) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  setenv("SANITIZED", "1", 1);  // LeakSanitizer finds leaks, and the program then fails
#endif
  // Small blocks that malloc keeps for a thread would be counted as in use.
  setenv("GLIBC_TUNABLES", "glibc.malloc.tcache_count=0", 1);
  const samples::Folder folder;
  stored::put_winners(folder / "a.db", 3);
  const auto said =
      output_of(std::string(OPEN_AND_CLOSE) + " '" + std::string(folder / "a.db") + "' 10000 2>&1");
  std::cout << said;
}

}  // namespace
}  // namespace overlaptune
