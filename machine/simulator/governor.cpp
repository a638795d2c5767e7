#include <algorithm>
#include <cmath>

#include "machine/simulator/clock.hpp"

namespace overlaptune::sim {
namespace {

/// The power of one replay at any clock factor.
class Powers {
 public:
  Powers(const PowerProfile& power, double clock_mhz, const Load& work, const Round& round)
      : power_(power),
        clock_mhz_(clock_mhz),
        round_(round),
        core_j_(work.flops * power.flop_joules + work.loaded_bytes * power.governor->load_joules),
        memory_j_(work.memory_bytes * power.governor->memory_joules),
        wire_j_(work.wire_bytes * power.byte_joules),
        leak_(round.settled ? 1 + power.governor->leak_share : 1) {}

  /// While a GEMM runs.
  [[nodiscard]] double in_gemm(double factor) const {
    const double joules = core_j_ * squared_volts(factor) + memory_j_;
    return power_.idle_w + leak_ * (clock_w(factor) + joules / seconds(gemm(factor)));
  }
  /// The mean of a replay.
  [[nodiscard]] double mean(double factor) const {
    const double share = gemm(factor) / time(factor);
    const double between = power_.idle_w + leak_ * clock_w(1);
    const double in_gemm = round_.gemm > 0 ? this->in_gemm(factor) : 0;
    return share * in_gemm + (1 - share) * between + leak_ * wire_j_ / seconds(time(factor));
  }
  [[nodiscard]] double gemm(double factor) const { return round_.gemm * round_.at / factor; }
  [[nodiscard]] double time(double factor) const {
    return round_.time - round_.gemm + gemm(factor);
  }

 private:
  static double seconds(double time) { return time * 1e-6; }
  /// Compared with the voltage of the highest clock.
  [[nodiscard]] double squared_volts(double factor) const {
    const Curve& volts = power_.governor->volts;
    return std::pow(volts.linear(factor * clock_mhz_) / volts.linear(clock_mhz_), 2);
  }
  [[nodiscard]] double clock_w(double factor) const {
    return power_.governor->clock_w * factor * squared_volts(factor);
  }

  const PowerProfile& power_;
  double clock_mhz_;
  const Round& round_;
  double core_j_;
  double memory_j_;
  double wire_j_;
  double leak_;
};

/// The clock factor at which a power that grows with the clock meets `limit`.
template <class Power>
double meets(double limit, const Power& power) {
  constexpr int kBisections = 30;
  double low = 0.1;
  double high = 3;  // a limit that is never met
  for (int step = 0; step < kBisections; ++step) {
    const double middle = (low + high) / 2;
    (power(middle) < limit ? low : high) = middle;
  }
  return low;
}

}  // namespace

ClockState governed(const PowerProfile& power, double clock_mhz, const Load& work,
                    const Round& round) {
  constexpr double kSharpness = 24;  // each limit acts a little before it is met
  const Powers powers(power, clock_mhz, work, round);
  ClockState state;
  if (round.gemm > 0) {
    const double settled =
        std::min(1.0, meets(power.limit_w, [&](double factor) { return powers.mean(factor); }));
    const double in_force = round.settled ? 1 : round.time / (round.time + power.window);
    const double slow = 1 - (1 - settled) * in_force;
    const double fast =
        meets(power.governor->peak_w, [&](double factor) { return powers.in_gemm(factor); });
    const double both = std::pow(slow, -kSharpness) + std::pow(fast, -kSharpness);
    state.factor = std::min(slow, std::pow(both, -1 / kSharpness));
  }
  const double share = powers.gemm(state.factor) / powers.time(state.factor);
  state.mean = share * state.factor + 1 - share;
  state.power_w = std::min(power.limit_w, powers.mean(state.factor));
  return state;
}

}  // namespace overlaptune::sim
