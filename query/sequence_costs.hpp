#pragma once
// The costs of sequence-parallel groups on a platform of a database, and on those that differ from
// it in the number of GPUs alone.

#include <string>

#include "core/platform.hpp"
#include "planning/sequences/measured_costs.hpp"

namespace overlaptune {

struct StoredCosts {
  MeasuredCosts measured{};
  Platform platform{};  ///< the one whose GEMMs they have
  std::string names{};  ///< of all platforms that they come from
};

/// The model's costs from the measurements in a database. `platform`: a name or fingerprint; empty:
/// all platforms of the database, which must be alike. Throws `Failure` (`bad_input`) where there
/// is no platform, where several that differ in more than the number of GPUs are stored and none is
/// named, where a fit needs more measurements, and as `measured_costs`.
[[nodiscard]] StoredCosts stored_costs(const std::string& database, const std::string& platform,
                                       const ModelConfig& config, const MeasuredRequest& request);

}  // namespace overlaptune
