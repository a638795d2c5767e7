#pragma once
// Library GEMMs and collectives, one of each for a part of the rows: what `sequential`, with one
// part, and `chunked` have in common.

#include "machine/simulator/schedule.hpp"

namespace overlaptune::sim {

/// How the parts are computed and exchanged.
struct LibraryParts {
  int comm_ctas = 0;
  Transport transport{};
  int sms = 0;  ///< SMs of the GEMMs
  /// All rows of all row blocks are one product, not a batch of products that share B.
  bool one_product = false;
};

/// The schedule of the parts. Error: the profile has no curve for their collectives.
[[nodiscard]] Expected<Schedule> schedule_parts(const Profile& profile, const Work& work,
                                                const LibraryParts& parts);

}  // namespace overlaptune::sim
