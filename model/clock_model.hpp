#pragma once
// The model of the SM clock under load. Times are microseconds.

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/measurement.hpp"

namespace overlaptune {

/// Elements of A and B that a CTA loads for each multiply-add of a generated GEMM, above those of a
/// library's GEMM. In a cluster of two, each CTA loads half of B for both.
[[nodiscard]] double extra_loads(const Tile& tile);

/// One round of the work that a GPU repeats while it is measured or deployed.
struct Load {
  Elements elements = Elements::bf16;
  double work = 0;     ///< multiply-adds of one round
  double loads = 0;    ///< elements that generated GEMMs load: their work times `extra_loads`
  double bytes = 0;    ///< operands and results of the GEMM of one round
  double gemm = 0;     ///< time of the GEMMs of one round, with nothing beside them
  double stretch = 1;  ///< factor by which a collective beside the predicted GEMM makes it longer
  double collective = 0;  ///< time of the collectives of one round
  double rest = 0;        ///< time of a round in which neither runs, which draws little
  double round = 0;       ///< time of one round
};

/// The highest rate (multiply-adds in a microsecond) among the measured GEMMs of each rate class.
/// Infinite for a class without measurements.
class PeakRates {
 public:
  void add(Elements elements, double rate) {
    double& most = rates_[static_cast<std::size_t>(rate_class_of(elements))];
    most = std::max(most, rate);
  }
  [[nodiscard]] double operator()(Elements elements) const {
    const double most = rates_[static_cast<std::size_t>(rate_class_of(elements))];
    return most > 0 ? most : std::numeric_limits<double>::infinity();
  }

 private:
  std::array<double, kElements.size()> rates_{};
};

/// The clock as a function of *power*. Power has two parts: the power while the GEMM runs, and the
/// mean power over rounds, which is approached with a time constant. Power is counted in useful
/// multiply-adds and bytes, elements that small tiles load, and a share for collectives. Above an
/// onset the clock falls in proportion to the power. The work of a slower clock takes longer, so
/// near the limit this is about what a power that goes with frequency times voltage squared gives.
class ClockModel {
 public:
  /// A model that only knows the full clock: the highest one that a probe recorded. If no probe of
  /// a library GEMM recorded a clock, the clock is constant.
  [[nodiscard]] static ClockModel of(std::span<const Measurement> measurements);

  /// Fits how far the clock falls. The data are the clocks of GEMMs and collectives, alone and in
  /// turn, and the times of library GEMMs in turn with a collective. `gemm` returns the time of a
  /// library GEMM at full clock: the ratio of the two times tells the clock of such a GEMM. (The
  /// clock that was recorded is the mean of the round.) `constants` may be those of the same fit;
  /// if empty, it gets them.
  void fit(std::span<const Measurement> measurements,
           const std::function<double(const GemmProbe&)>& gemm,
           std::vector<double>* constants = nullptr);

  /// Factor on the time of the GEMMs of `load`, which is given at full clock; at least 1.
  [[nodiscard]] double slowdown(const Load& load) const;

  /// Factor by which a measurement was slowed, from the clock that was recorded with it; 1 if none
  /// was.
  [[nodiscard]] double recorded(const Conditions& conditions) const;

 private:
  struct Constants {
    PeakRates peak_rate{};
    double scale = 1;  ///< time constant: a round this long reaches 63 % of its power
    double onset = 1;
    double rounding = 1;    ///< width of the onset
    double loss = 0;        ///< slowdown for one unit of power above the onset
    double byte_power = 0;  ///< power of one byte in a microsecond
    double load_power = 0;  ///< energy of a loaded element, in multiply-adds
    double collective_power = 0;
    double instant = 0;  ///< share of the power while the GEMM runs, not of the mean
    double brief = 1;    ///< power of a GEMM that is timed briefly, as a share of the settled power
  };
  struct Slowdowns {
    double gemm = 1;
    double collective = 1;
  };
  [[nodiscard]] static Slowdowns slowdowns(const Load& load, const Constants& constants);
  [[nodiscard]] static double mean_slowdown(const Load& load, const Constants& constants);

  double full_clock_mhz_ = 0;  ///< the highest recorded clock; 0: none was recorded
  Constants constants_{};
};

}  // namespace overlaptune
