#pragma once
// The stored times of a layer's operations, which `scripts/compare-step --store` measured.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "core/measurement.hpp"
#include "planning/schedules/step_graph.hpp"

namespace overlaptune {

class LayerTimes {
 public:
  /// Takes the `LayerProbe`s. Of two of one amount the later one counts.
  explicit LayerTimes(std::span<const Measurement> measurements);

  [[nodiscard]] bool has(LayerWork work) const;

  /// The time of an operation: of its amount, else by a line between its neighbours (both
  /// logarithms), whose p10 and p90 are the doubt. Beyond the measured amounts the line through the
  /// two nearest ones goes on, or, where one alone was measured, `us_per_amount`: a part of its
  /// time is there whatever the amount. Then `beyond` is the doubt. None where the work was never
  /// measured.
  [[nodiscard]] std::optional<Cost> time(const LayerProbe& probe, const Doubt& beyond,
                                         double us_per_amount) const;

 private:
  std::map<std::pair<LayerWork, int>, std::map<std::int64_t, Summary>> times_{};  ///< by amount
};

/// `cost_source` of `LayerTimes::time`.
inline constexpr const char* kLayerMeasured = "measured in a graph";
inline constexpr const char* kLayerInterpolated = "interpolated";
inline constexpr const char* kLayerExtrapolated = "extrapolated";
inline constexpr const char* kAsForward = "as forward";  ///< a forward operation's, taken backward

}  // namespace overlaptune
