#pragma once
// The measured times of collectives that a database has, as rows that calibrate a described
// cluster.

#include <string>
#include <vector>

#include "planning/whatif/answers.hpp"

namespace overlaptune {

/// The collectives of the named platforms; no name means the only platform. They are NCCL's rings
/// with its own choice of CTAs: a program that calls NCCL gets these. Throws `Failure`
/// (`bad_input`): a platform that is not stored; two platforms that have the same collective on the
/// same number of GPUs.
[[nodiscard]] cluster::MeasuredTimes stored_times(const std::string& database,
                                                  std::vector<std::string> platforms);

}  // namespace overlaptune
