#pragma once
// Plans of sequence-parallel groups as JSON (docs/sequences.md has the fields).

#include "planner/study.hpp"
#include "reports/table.hpp"

namespace overlaptune {

[[nodiscard]] OrderedJson json_of(const Study& study);

}  // namespace overlaptune
