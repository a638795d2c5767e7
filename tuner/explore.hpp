#pragma once
// Candidates drawn at random, without asking the model. Its predictions and its choices are judged
// against them.

#include <cstdint>
#include <map>
#include <vector>

#include "core/config/config.hpp"
#include "core/platform.hpp"
#include "core/problem.hpp"
#include "model/draw.hpp"

namespace overlaptune {

struct ExploreSpace {
  Platform platform{};
  std::vector<Strategy> strategies{};  ///< strategies that the machine can run
  std::map<Collective, std::vector<CommSetting>> settings{};  ///< settings that were probed
};

/// `count` different configs of a problem (fewer where the space has fewer), stratified:
/// strategies, tile shapes, comm settings and kinds of partition (one group, every wave, equal
/// groups, random cuts, ever smaller groups) each come about equally often. The same seed and
/// problem give the same configs. `sequential` is not among them.
[[nodiscard]] std::vector<Config> explore(const ExploreSpace& space, const Problem& problem,
                                          int count, std::uint64_t seed);

}  // namespace overlaptune
