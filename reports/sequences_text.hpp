#pragma once
// Plans of sequence-parallel groups in words and a table.

#include <string>

#include "planner/study.hpp"

namespace overlaptune {

/// What the plans gain, in one line. The study has at least one batch, as below.
[[nodiscard]] std::string headline_of(const Study& study);

/// A line for each batch, and the means of all.
[[nodiscard]] std::string text_of(const Study& study, int gpus);

}  // namespace overlaptune
