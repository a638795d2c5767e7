#pragma once
// How much each wave group or chunk of a work holds.

#include <vector>

#include "core/config/work.hpp"

namespace overlaptune {

struct GroupSize {
  Bytes bytes{};           ///< of the whole buffer of its collective (`collective_bytes`)
  std::int64_t tiles = 0;  ///< 0 where a library computes
  int ctas = 0;            ///< CTAs of its collective; 0: not chosen by the config
};

/// The groups in their order; `sequential` has one.
[[nodiscard]] std::vector<GroupSize> group_sizes(const Work& work);

}  // namespace overlaptune
