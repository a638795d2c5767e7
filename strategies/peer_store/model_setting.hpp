#pragma once
// The GEMM and the links of `peer_store` on one platform, as the probes tell them.

#include "model/clock_slowdown.hpp"
#include "model/parts.hpp"
#include "strategies/peer_store/model_partition.hpp"

namespace overlaptune {

/// The part that is the same for every tile.
struct StoreSetting {
  const ClassGemms* gemms = nullptr;  ///< generated ones were probed
  double rate = 0;                    ///< bytes that a rank sends per microsecond
  BackgroundLoad background{};
};

/// Error: generated GEMMs, stores into a peer's memory, or an exchange by peer access on as many
/// ranks were never probed.
[[nodiscard]] Expected<StoreSetting> store_setting(const Model::Parts& parts,
                                                   const Problem& problem);

/// The GEMM with this tile and swizzle, without cuts.
[[nodiscard]] StoreProblem store_problem(const Model::Parts& parts, const Problem& problem,
                                         const StoreSetting& setting, const Tile& tile,
                                         int swizzle);

}  // namespace overlaptune
