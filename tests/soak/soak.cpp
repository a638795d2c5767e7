// soak_databases SECONDS SEED: runs each part for its share of the time, and prints a table of what
// was tried and what was bad. Exits with 1 where anything was bad, or nothing was tried.

#include <array>
#include <charconv>
#include <cstring>
#include <exception>

#include "part.hpp"
#include "tests/db/samples.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune::soak {
namespace {

struct Part {
  const char* name;
  double share;  ///< of the time
  Tally (*run)(Bench& bench);
};

constexpr std::array kParts{
    Part{"bits flipped in a database", 0.3, flip_bits},
    Part{"merges of damaged and sound databases", 0.15, merge_damaged},
    Part{"journals, logs, triggers, moved files", 0.15, disturb_surroundings},
    Part{"kills at file calls", 0.25, kill_at_file_calls},
    Part{"queries by eight beside two tunes", 0.15, tune_beside_queries}};

int soak(double seconds, std::uint64_t seed) {
  bool good = true;
  fmt::print("| part | tried | bad |\n|---|---|---|\n");
  for (const Part& part : kParts) {
    const TemporaryFolder folder;
    const auto time = std::chrono::duration<double>(seconds * part.share);
    Bench bench{folder.path(), std::mt19937_64(seed),
                std::chrono::steady_clock::now() +
                    std::chrono::duration_cast<std::chrono::steady_clock::duration>(time)};
    const Tally tally = part.run(bench);
    fmt::print("| {} | {} | {} |\n", part.name, tally.tried, tally.bad);
    std::fflush(stdout);
    good = good && tally.bad == 0 && tally.tried > 0;
  }
  return good ? 0 : 1;
}

}  // namespace
}  // namespace overlaptune::soak

int main(int argc, char** argv) {
  double seconds = 0;
  std::uint64_t seed = 0;
  const auto read = [&](int index, auto& number) {
    const char* text = argv[index];
    return std::from_chars(text, text + std::strlen(text), number).ec == std::errc{};
  };
  if (argc != 3 || !read(1, seconds) || !read(2, seed) || !(seconds > 0)) {
    fmt::print(stderr, "Usage: soak_databases SECONDS SEED\n");
    return 2;
  }
  try {
    return overlaptune::soak::soak(seconds, seed);
  } catch (const std::exception& error) {
    fmt::print(stderr, "soak_databases: {}\n", error.what());
    return 1;
  }
}
