#pragma once
// A part of the soak test: what it tried, and what went wrong.

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <functional>
#include <random>
#include <string>

#include <fmt/format.h>

namespace overlaptune::soak {

struct Tally {
  std::int64_t tried = 0;
  std::int64_t bad = 0;

  /// Counts one try. A bad one is told, so that it can be repeated.
  void count(bool good, const std::string& what) {
    ++tried;
    if (good) return;
    ++bad;
    constexpr std::int64_t kMostTold = 20;
    if (bad <= kMostTold) fmt::print(stderr, "bad: {}\n", what);
  }
};

/// The bench of a part: a folder of its own, random numbers, and the end of its time.
struct Bench {
  std::filesystem::path folder;
  std::mt19937_64 random;
  std::chrono::steady_clock::time_point end;

  [[nodiscard]] bool has_time() const { return std::chrono::steady_clock::now() < end; }
  /// A random number from 0 to `count` - 1.
  [[nodiscard]] std::size_t below(std::size_t count) { return random() % count; }
};

// The parts; each returns when its time is over.
Tally flip_bits(Bench& bench);
Tally merge_damaged(Bench& bench);
Tally disturb_surroundings(Bench& bench);
Tally kill_at_file_calls(Bench& bench);
Tally tune_beside_queries(Bench& bench);

}  // namespace overlaptune::soak
