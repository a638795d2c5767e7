#pragma once
// Plans of sequence-parallel groups as JSON (docs/sequences.md has the fields), and in words for a
// person.

#include <cstddef>
#include <span>
#include <string>

#include "planning/sequences/study.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// Where the sequences of a study come from.
struct SequenceSource {
  int batch = 0;                        ///< sequences of a batch
  std::span<const std::size_t> places;  ///< of all sequences in their file, from 0
  Limits limits{};                      ///< of the plans
};

[[nodiscard]] OrderedJson json_of(const Study& study, const SequenceSource& source);

/// The gain of groups of mixed sizes, in one line.
[[nodiscard]] std::string headline_of(const Study& study);

/// "4 batches of 512 sequences on 64 GPUs".
[[nodiscard]] std::string extent_of(const Study& study, int gpus);

/// The means over all batches, beside the baselines.
[[nodiscard]] std::string summary_of(const Study& study);

/// A table with a line for each batch.
[[nodiscard]] std::string batch_lines(const Study& study);

}  // namespace overlaptune
