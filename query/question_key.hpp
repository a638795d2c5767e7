#pragma once
// A problem and the terms of a question packed into three words, as the key of a hash table.

#include <cstdint>

#include "query/problem_key.hpp"
#include "query/terms.hpp"

namespace overlaptune {

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
