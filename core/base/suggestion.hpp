#pragma once
// "Did you mean …?" for words that a person typed.

#include <span>
#include <string>
#include <string_view>

namespace overlaptune {

/// "; did you mean 'query'?": the one of `known` that is nearest to `word` by edit distance
/// (Levenshtein, 1966), if at most a third of its letters differ. Empty where no word is near.
[[nodiscard]] std::string did_you_mean(std::string_view word, std::span<const std::string> known);

}  // namespace overlaptune
