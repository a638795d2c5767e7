#pragma once
// When the wave groups (or chunks) of a config became ready, started and ended, predicted or
// measured.

#include <vector>

#include "core/base/units.hpp"

namespace overlaptune {

/// Times of one group, from the start of the config. Where the collective comes
/// first, `ready` is when the group's rows may be sent.
struct GroupTimes {
  int group = 0;
  Microseconds ready{};  ///< the collective of the group could start
  Microseconds start{};  ///< it started
  Microseconds end{};    ///< it ended, with its result in place
  /// The part of start..end in which no GEMM ran.
  Microseconds exposed{};
};

struct Timeline {
  Microseconds gemm_end{};
  std::vector<GroupTimes> groups{};
};

}  // namespace overlaptune
