#pragma once
// How to cut rows that arrive one after the other into wave groups, for a GEMM that waits for each
// group. Times are microseconds.

#include <cstddef>
#include <limits>
#include <span>
#include <vector>

namespace overlaptune {

/// A place where a wave group may end.
struct ArrivalPoint {
  double arrives = 0;     ///< until all rows up to here have arrived, as one piece
  double rest = 0;        ///< of the GEMM, from here to its end, at once and with nothing beside it
  bool must_end = false;  ///< a group must end here: the end of a row block
};

/// The rows of a problem and their GEMM. While rows arrive, the GEMM takes `slowdown` times as
/// long.
struct ArrivalProblem {
  double whole = 0;     ///< of the whole GEMM, with nothing beside it
  double gap = 0;       ///< by which each piece but the first delays the pieces from it on
  double slowdown = 1;  ///< at least 1
  /// Point 0 is the end of the rank's own rows, where `arrives` is 0. At the last one, `rest` is 0.
  std::vector<ArrivalPoint> points{};
};

/// Time until the GEMM ends, if groups end at these points (ascending, without point 0; the last
/// point is the last of them). The GEMM ends as late as the latest of its chains: it begins at
/// once, or when one of the groups has arrived, and goes on to its end without another stop.
[[nodiscard]] double waiting_time(const ArrivalProblem& problem, std::span<const std::size_t> ends);

/// A lower bound on `waiting_time` of any partition into at least so many groups. It looks at the
/// last two points only.
[[nodiscard]] double least_waiting_time(const ArrivalProblem& problem, std::size_t groups);

struct ArrivalPartition {
  double time = std::numeric_limits<double>::infinity();
  std::vector<std::size_t> ends{};  ///< empty: none takes less than the limit
};

/// The partition of least `waiting_time`, in at most `most_groups` groups after the rank's own:
/// dynamic programming over the number of groups and the points, exact. `most_groups` is at least
/// the number of points that must be ends. Partitions that take as long as `limit` are not wanted.
[[nodiscard]] ArrivalPartition best_arrivals(
    const ArrivalProblem& problem, int most_groups,
    double limit = std::numeric_limits<double>::infinity());

}  // namespace overlaptune
