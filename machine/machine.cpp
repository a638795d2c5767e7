#include "machine/machine.hpp"

#include <algorithm>

namespace overlaptune {

std::vector<Microseconds> slowest_rank(const RunResult& result) {
  std::vector<Microseconds> slowest;
  for (const auto& times : result.rank_times) {
    slowest.resize(std::max(slowest.size(), times.size()));
    for (std::size_t i = 0; i < times.size(); ++i) slowest[i] = std::max(slowest[i], times[i]);
  }
  return slowest;
}

}  // namespace overlaptune
