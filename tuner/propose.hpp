#pragma once
// The configs of one problem that are worth measuring.

#include <cstdint>
#include <functional>
#include <vector>

#include "core/candidate.hpp"
#include "model/model.hpp"
#include "tuner/explore.hpp"

namespace overlaptune {

struct ProposeOptions {
  int top_k = 8;    ///< configs that the model proposes
  int explore = 0;  ///< configs drawn from `seed` without asking the model
  std::uint64_t seed = 0;
  std::function<bool()> stop = {};  ///< called often; true ends the search with what was found
};

/// The candidates of a problem: `sequential` first, then the model's shortlist, then configs drawn
/// at random from `space`. Each config once, with its predicted time. A config that the model
/// cannot predict, because its collective was never probed, is left out. After a stop the shortlist
/// need not be the best one. Error: as `search`.
[[nodiscard]] Expected<std::vector<Candidate>> propose(const Model& model,
                                                       const ExploreSpace& space,
                                                       const Problem& problem, Launch launch,
                                                       const ProposeOptions& options);

}  // namespace overlaptune
