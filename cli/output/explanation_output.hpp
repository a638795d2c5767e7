#pragma once
// An explanation as `query --explain` shows it.

#include <string>

#include "cli/flags/question.hpp"
#include "query/explain.hpp"

namespace overlaptune::cli {

/// The best config in words, with its timeline, and a table of why the next best ones are slower.
[[nodiscard]] std::string in_words(const Explanation& explanation, const Question& question);

/// `config`, `config_line`, `predicted_us`, …, `alternatives`: the field `explanation` of
/// `query --json`.
[[nodiscard]] OrderedJson document_of(const Explanation& explanation);

/// A Chrome trace of the best config, as it is predicted, and of `sequential`.
[[nodiscard]] std::string trace_of(const Explanation& explanation, const Question& question);

}  // namespace overlaptune::cli
