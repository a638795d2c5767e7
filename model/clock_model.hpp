#pragma once
// How far the clock falls under load. Times are microseconds.

#include <algorithm>
#include <array>
#include <cstddef>
#include <functional>
#include <limits>
#include <span>
#include <vector>

#include "core/measurement.hpp"

namespace overlaptune {

/// Bytes of the operands and the result of a GEMM, each once.
[[nodiscard]] double gemm_bytes(std::int64_t m, std::int64_t n, std::int64_t k, Dtype dtype);

/// What the GPU does again and again while it is measured, or deployed.
struct Load {
  Dtype dtype = Dtype::bf16;
  double work = 0;        ///< multiply-adds of one round
  double bytes = 0;       ///< operands and results of the GEMM of one round
  double gemm = 0;        ///< time of a round in which GEMMs run, were nothing beside them
  double stretch = 1;     ///< factor by which the GEMM in question takes longer than that
  double collective = 0;  ///< time of a round in which collectives run
  double round = 0;       ///< time of a round
};

/// The most multiply-adds in a microsecond that GEMMs of each rate class were seen to do; infinite
/// where none was seen.
class PeakRates {
 public:
  void add(Dtype dtype, double rate) {
    double& most = rates_[static_cast<std::size_t>(rate_class_of(dtype))];
    most = std::max(most, rate);
  }
  [[nodiscard]] double operator()(Dtype dtype) const {
    const double most = rates_[static_cast<std::size_t>(rate_class_of(dtype))];
    return most > 0 ? most : std::numeric_limits<double>::infinity();
  }

 private:
  std::array<double, kDtypes.size()> rates_{};
};

/// The clock is a function of *heat*: in part of the power right now, in part of the mean power
/// over rounds (tensor cores at the rate of useful work, a share for collectives), approached with
/// a time constant. Above an onset it falls in proportion.
class ClockModel {
 public:
  /// Knows the full clock, the highest that a probe recorded. Without any the clock is constant.
  [[nodiscard]] static ClockModel of(std::span<const Measurement> measurements);

  /// Learns how far it falls: from the clocks of GEMMs and collectives by themselves and in turn,
  /// and from how much longer than `gemm` tells, at full clock, a GEMM takes in turn with a
  /// collective. (The clock of such a round is a mean: it does not tell what the GEMM gets of it.)
  void fit(std::span<const Measurement> measurements,
           const std::function<double(const GemmProbe&)>& gemm);

  /// Factor on the times of its GEMMs at full clock.
  [[nodiscard]] double slowdown(const Load& load) const;

  /// Factor by which a measurement was slowed: from its own recorded clock, else 1.
  [[nodiscard]] double recorded(const Conditions& conditions) const;

 private:
  struct Constants {
    PeakRates peak_rate{};
    double scale = 1;  ///< rounds this long reach 63 % of their heat
    double onset = 1;
    double rounding = 1;   ///< width of the onset
    double loss = 0;       ///< slowdown for one unit of heat above the onset
    double byte_heat = 0;  ///< one byte in a microsecond brings so much
    double collective_heat = 0;
    double instant = 0;  ///< share of the power right now
  };
  struct Slowdowns {
    double gemm = 1;
    double collective = 1;
  };
  [[nodiscard]] static Slowdowns slowdowns(const Load& load, const Constants& constants);
  [[nodiscard]] static double mean_slowdown(const Load& load, const Constants& constants);

  double full_clock_mhz_ = 0;  ///< the highest recorded; 0: none was
  Constants constants_{};
};

}  // namespace overlaptune
