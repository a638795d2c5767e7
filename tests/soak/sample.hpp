#pragma once
// A small database whose every answer is known, and ways to damage it.

#include <map>
#include <optional>
#include <overlaptune/overlaptune.hpp>
#include <string>
#include <vector>

#include "part.hpp"
#include "tests/query/stored.hpp"

namespace overlaptune::soak {

constexpr int kWinners = 24;

/// Makes a database with `kWinners` winners of a real platform in this edition (`stored::winner`),
/// and a bit of everything else.
void make_sample(const std::filesystem::path& file, int version = 1);

/// A change of one bit: of a value in a table, through SQLite with its rules off, or of the file.
struct Flip {
  std::string table;  ///< empty: anywhere in the file
  std::string what;   ///< for messages
};
/// Flips a bit in the file. Tables take turns.
[[nodiscard]] Flip flip_a_bit(const std::filesystem::path& file, Bench& bench);

/// Answers of the query library from the sample: how many of its winners it answers with, and what
/// is wrong. An answer is right where it is a winner of one of the editions, to the last bit.
struct Answers {
  ovt_status opened = OVT_OK;
  int exact = 0;
  std::optional<std::string> wrong{};
};
[[nodiscard]] Answers answers(const std::filesystem::path& file, const std::vector<int>& editions);

}  // namespace overlaptune::soak
