#pragma once
// How far the clock falls under load. Times are microseconds.

#include <functional>
#include <span>
#include <vector>

#include "core/measurement.hpp"

namespace overlaptune {

/// Operands and result of a GEMM, each once.
[[nodiscard]] double gemm_bytes(std::int64_t m, std::int64_t n, std::int64_t k);

/// What the GPU does again and again while it is measured, or deployed.
struct Load {
  double work = 0;        ///< multiply-adds of one round
  double bytes = 0;       ///< operands and results of the GEMM of one round
  double gemm = 0;        ///< time of a round in which GEMMs run, were nothing beside them
  double stretch = 1;     ///< what that is longer for the GEMM in question
  double collective = 0;  ///< and in which collectives do
  double round = 0;       ///< time of a round
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
    double peak_rate = 1;  ///< multiply-adds in a microsecond, the most that was ever seen
    double scale = 1;      ///< rounds this long reach 63 % of their heat
    double onset = 1;
    double rounding = 1;   ///< width of the onset
    double loss = 0;       ///< slowdown for one unit of heat above the onset
    double byte_heat = 0;  ///< of one byte in a microsecond
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
