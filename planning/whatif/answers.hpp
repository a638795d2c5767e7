#pragma once
// The time of a collective on a described cluster, calibrated by measured times where there are
// any.

#include <cstdint>
#include <string>
#include <vector>

#include "planning/whatif/calibration.hpp"
#include "planning/whatif/cluster.hpp"

namespace overlaptune::cluster {

/// Measured times, and who measured them: full names of platforms ("sim:h200-nvlink-x8"), or a
/// file. Both are empty where nothing was measured.
struct MeasuredTimes {
  std::vector<MeasuredRow> rows{};
  std::string source{};
};

/// The time of one question, calibrated if there are measured times.
struct WhatIfAnswer {
  Question question{};
  std::string cluster{};
  Estimate estimate{};
  std::string calibrated_by{};  ///< the source of the measured times; empty: data sheets alone
  /// The time of a call in a loop without a pause where hosts are ahead of their GPUs: launches
  /// hide behind the call before. 0: calibrated, so that the time is of whatever was measured.
  double in_a_loop_us = 0;
  /// Times where one thread submits to all GPUs of a node in turn, as nccl-tests with `-g 8`
  /// does: no shorter than that takes. 0: calibrated, or the host's time is not known.
  double in_a_hosts_loop_us = 0;
  std::vector<std::string> notes{};  ///< what the time is of, where that matters
};

/// An answer for each number of bytes. Throws `Failure` (`bad_input`): as `Calibration::fit` and
/// `times_of`.
[[nodiscard]] std::vector<WhatIfAnswer> answers(const Cluster& cluster,
                                                const MeasuredTimes& measured, Operation operation,
                                                const std::vector<std::int64_t>& bytes, int gpus);

}  // namespace overlaptune::cluster
