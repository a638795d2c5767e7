#pragma once
// Which cuts the partition search looks at where there are too many: first some that are spread
// over the problem, then those around the ends of the groups that it chose. Cuts are numbered
// from 1.

#include <cstdint>
#include <span>
#include <vector>

namespace overlaptune {

/// At most `most` of the cuts 1 to `count`, ascending, with the last one. They are spread as
/// Chebyshev nodes are: the first and the last wave groups are small, so cuts are close together
/// near both ends of the problem, and far apart between them.
[[nodiscard]] std::vector<std::int64_t> spread_cuts(std::int64_t count, std::int64_t most);

/// The cuts at `ends` and some on both sides of each, up to the neighbours that were tried: `most`
/// in all, or a few more. `tried` is ascending, and has the cuts at `ends`, which are ascending
/// too; the last of both is the last cut.
[[nodiscard]] std::vector<std::int64_t> cuts_around(std::span<const std::int64_t> tried,
                                                    std::span<const std::int64_t> ends,
                                                    std::int64_t most);

}  // namespace overlaptune
