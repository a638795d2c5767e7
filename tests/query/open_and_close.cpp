// open_and_close DATABASE CYCLES: opens a database, asks for an exact answer and for one that needs
// the measurements, explains, reloads and closes, over and over. Says how many file descriptors and
// how much memory it has more at the end than after the first tenth, and fails where that grows.
// Under AddressSanitizer and valgrind, which keep freed memory back, those look for leaks instead.

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <malloc.h>
#include <overlaptune/overlaptune.hpp>
#include <string>

namespace {

struct Use {
  long descriptors = 0;
  long heap_bytes = 0;
  long resident_kb = 0;
};

Use use() {
  Use now;
  now.descriptors = std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
  now.heap_bytes = static_cast<long>(mallinfo2().uordblks);
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == "VmRSS:") status >> now.resident_kb;
  }
  return now;
}

bool cycle(const char* path) {
  ovt::Database database({path});
  const auto known = ovt::problem(OVT_GEMM_ALL_REDUCE, 1, 131072, 3584, OVT_BF16, 8);
  const auto other = ovt::problem(OVT_GEMM_ALL_REDUCE, 4095, 131072, 3584, OVT_BF16, 8);
  bool right = database.query(known).source == OVT_EXACT;
  right = right && database.query(other).source == OVT_BASELINE;
  right = right && !database.explain(known).empty();
  database.reload();
  return right;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 100;
  const long cycles = std::atol(arguments[2]);
  Use before;
  for (long i = 0; i < cycles; ++i) {
    if (i == cycles / 10) before = use();
    if (!cycle(arguments[1])) return 1;
  }
  const Use after = use();
  std::printf("%ld cycles: %+ld descriptors, %+ld heap bytes, %+ld KiB resident\n", cycles,
              after.descriptors - before.descriptors, after.heap_bytes - before.heap_bytes,
              after.resident_kb - before.resident_kb);
  if (after.descriptors != before.descriptors) return 2;
  if (std::getenv("SANITIZED") != nullptr) return 0;
  // Memory that malloc keeps for later varies by some pages; one byte lost in each cycle is 9,000.
  return after.heap_bytes - before.heap_bytes < 4096 &&
                 after.resident_kb - before.resident_kb < 1024
             ? 0
             : 3;
}
