#pragma once
// Problems and questions packed into two and three words, as keys of hash tables.

#include <cstdint>

#include "core/base/hash.hpp"
#include "core/problem.hpp"
#include "query/terms.hpp"

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

/// The key of a validated problem and the terms of a question. Keys are equal exactly where these
/// are.
struct QuestionKey {
  PackedProblem problem;
  std::uint64_t terms = 0;

  QuestionKey(const Problem& asked, const Terms& given)
      : problem(asked, given.launch),
        terms(std::uint64_t{given.strategies.bits()} << 32 |
              static_cast<std::uint64_t>(given.free_sms)) {}
  friend bool operator==(const QuestionKey&, const QuestionKey&) = default;
};

struct QuestionKeyHash {
  std::size_t operator()(const QuestionKey& key) const {
    return mix(PackedProblemHash{}(key.problem) ^ key.terms);
  }
};

}  // namespace overlaptune
