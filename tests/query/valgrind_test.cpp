// Faults that AddressSanitizer does not see: reads of memory that was never written, and faults
// inside SQLite, which is not built with it. There are fewer cycles than in leaks_test.cpp, because
// each takes 50 times as long.

#include <cstdlib>
#include <iostream>

#include <gtest/gtest.h>

#include "stored.hpp"
#include "tests/abi/command.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

TEST(ValgrindTest, AHundredCyclesAreClean) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "valgrind does not run what a sanitizer is built into";
#endif
  if (std::system("command -v valgrind > /dev/null") != 0) {
    GTEST_SKIP() << "no valgrind here: apt-get install valgrind";
  }
  setenv("SANITIZED", "1", 1);
  const TemporaryFolder folder;
  stored::put_winners(folder / "a.db", 3);
  std::cout << output_of(
      "valgrind --quiet --leak-check=full --errors-for-leak-kinds=definite,indirect,possible "
      "--error-exitcode=99 " +
      std::string(OPEN_AND_CLOSE) + " '" + std::string(folder / "a.db") + "' 100 2>&1");
}

}  // namespace
}  // namespace overlaptune
