#pragma once
// The acts that the fake worker can be told to do.

#include "core/config/config.hpp"
#include "core/measurement.hpp"

namespace overlaptune::cuda {

/// An act is told by the number of CTAs of a config or of a copy probe, one that no other test has
/// and that a machine may run. Fatal acts happen on the
/// last rank.
enum class Act {
  hang = 41,
  crash,      ///< by SIGSEGV
  exit,       ///< with code 7
  be_killed,  ///< by SIGKILL
  fail,       ///< an exception of the backend
  be_wrong,   ///< on rank 1
  refuse,
  uneven,  ///< rank 1 has fewer samples
};

inline Config config_that(Act act) {
  return Sequential{.comm_ctas = static_cast<int>(act)};
}

inline Probe probe_that(Act act) {
  return CopyProbe{.bytes = {1}, .ctas = static_cast<int>(act)};
}

}  // namespace overlaptune::cuda
