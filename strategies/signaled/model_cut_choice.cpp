#include "strategies/signaled/model_cut_choice.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <set>

namespace overlaptune {

std::vector<std::int64_t> spread_cuts(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> chosen(static_cast<std::size_t>(std::min(count, most)));
  if (count <= most) {
    std::iota(chosen.begin(), chosen.end(), std::int64_t{1});
    return chosen;
  }
  std::int64_t last = 0;
  for (std::int64_t i = 1; i <= most; ++i) {
    const double angle = std::numbers::pi * static_cast<double>(i) / static_cast<double>(most);
    const double place = static_cast<double>(count) * (1 - std::cos(angle)) / 2;
    // Near the ends the nodes are less than one cut apart.
    last = std::clamp<std::int64_t>(std::llround(place), last + 1, count - (most - i));
    chosen[static_cast<std::size_t>(i - 1)] = last;
  }
  return chosen;
}

std::vector<std::int64_t> cuts_around(std::span<const std::int64_t> tried,
                                      std::span<const std::int64_t> ends, std::int64_t most) {
  // On each side of an end: at a half of the way to the neighbour, or at thirds, or at quarters,
  // rounded to the neighbour.
  const auto groups = static_cast<std::int64_t>(ends.size());
  const std::int64_t parts = std::clamp<std::int64_t>(most / (2 * groups), 1, 3) + 1;
  std::set<std::int64_t> chosen;
  for (const std::int64_t end : ends) {
    const auto at = std::lower_bound(tried.begin(), tried.end(), end);
    const std::int64_t before = at == tried.begin() ? 0 : *std::prev(at);
    const std::int64_t after = std::next(at) == tried.end() ? end : *std::next(at);
    for (std::int64_t i = 1; i <= parts; ++i) chosen.insert(before + (end - before) * i / parts);
    for (std::int64_t i = 1; i < parts; ++i) chosen.insert(after - (after - end) * i / parts);
  }
  chosen.erase(0);
  return {chosen.begin(), chosen.end()};
}

}  // namespace overlaptune
