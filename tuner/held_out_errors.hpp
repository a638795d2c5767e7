#pragma once
// How good the model is at points that were not probed.

#include <span>
#include <string>
#include <vector>

#include "machine/machine.hpp"
#include "model/model.hpp"
#include "probes/probes.hpp"

namespace overlaptune {

struct HeldOutPoint {
  Probe probe{};
  Microseconds measured{};
  Microseconds predicted{};
};

struct HeldOut {
  std::vector<HeldOutPoint> points{};
  int left_out = 0;  ///< probes that cannot be measured here, or that the model does not know
};

/// Measures the probes one by one, until `progress` says no. Warns of each that is left out. Error:
/// the machine is lost.
[[nodiscard]] Expected<HeldOut> measure_held_out(Machine& machine, const Model& model,
                                                 std::span<const Probe> probes,
                                                 const Progress& progress);

/// Relative errors of the predictions of one kind of probe.
struct ErrorsOfKind {
  std::string kind{};
  std::size_t count = 0;
  double median = 0;
  double p90 = 0;
  double most = 0;
  double mean = 0;
};

/// First all collectives together, then each kind ("all_reduce", "gemm", "generated gemm") in the
/// order in which the kinds come. Kinds without a point are left out.
[[nodiscard]] std::vector<ErrorsOfKind> errors_by_kind(std::span<const HeldOutPoint> points);

}  // namespace overlaptune
