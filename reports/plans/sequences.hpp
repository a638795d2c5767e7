#pragma once
// Plans of sequence-parallel groups as JSON (docs/sequences.md has the fields).

#include <cstddef>
#include <span>

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

}  // namespace overlaptune
