#pragma once
// The plans of several batches in words for a person.

#include <string>

#include "planning/sequences/study.hpp"

namespace overlaptune {

/// The gain of groups of mixed sizes, in one line.
[[nodiscard]] std::string headline_of(const Study& study);

/// "4 batches of 512 sequences on 64 GPUs".
[[nodiscard]] std::string extent_of(const Study& study, int gpus);

/// The means over all batches, beside the baselines.
[[nodiscard]] std::string summary_of(const Study& study);

/// A table with a line for each batch.
[[nodiscard]] std::string batch_lines(const Study& study);

}  // namespace overlaptune
