#pragma once
// A problem and a launch packed into two words, as the key of a hash table.

#include <cstdint>

#include "core/base/hash.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// The key of a validated problem and a launch. Keys are equal exactly where problem and launch
/// are.
struct PackedProblem {
  std::uint64_t mn = 0;
  std::uint64_t rest = 0;

  PackedProblem(const Problem& problem, Launch launch)
      : mn(word(problem.m) << 32 | word(problem.n)),
        rest(word(problem.k) << 32 | word(problem.ranks) << 16 | word(problem.op) << 8 |
             word(problem.elements) << 4 | word(launch)) {}
  friend bool operator==(const PackedProblem&, const PackedProblem&) = default;

  [[nodiscard]] std::int64_t m() const { return static_cast<std::int64_t>(mn >> 32); }

 private:
  template <class T>
  static std::uint64_t word(T value) {
    return static_cast<std::uint64_t>(value);
  }
  static_assert(kLargestSize < std::int64_t{1} << 32 && kMostRanks < 1 << 16);
};

struct PackedProblemHash {
  std::size_t operator()(const PackedProblem& key) const { return mix(key.mn ^ mix(key.rest)); }
};

}  // namespace overlaptune
