#include "machine/simulator/clock.hpp"

#include <algorithm>
#include <cmath>

namespace overlaptune::sim {
namespace {

constexpr double kPowerOfClock = 2.5;
constexpr double kLimitSharpness = 6;  // the governor acts a little before the limit

/// The share of the running average that a loop of replays of this length fills.
double settled(double time, double window) {
  return time / (time + window);
}

}  // namespace

ClockState clock_state(const Profile& profile, const Load& work, const Round& round) {
  const PowerProfile& power = profile.power;
  if (power.governor) return governed(power, profile.gpu.clock_mhz, work, round);
  const double time = round.time;
  const double seconds = time * 1e-6;
  const double tensor_w = work.flops * power.flop_joules / seconds;  // as if at the highest clock
  const double other_w = work.wire_bytes * power.byte_joules / seconds;
  const double steady_load = tensor_w / round.at;  // power at the highest clock
  const double allowed = std::max(power.limit_w - power.idle_w - other_w, 0.1 * power.limit_w);
  const double excess =
      std::pow(1 + std::pow(steady_load / allowed, kLimitSharpness), 1 / kLimitSharpness);
  const double steady = std::pow(excess, -1 / kPowerOfClock);
  ClockState state{.factor = 1 - (1 - steady) * settled(time, power.window)};
  const double drawn = power.idle_w + other_w + steady_load * std::pow(state.factor, kPowerOfClock);
  state.power_w = std::min(drawn, power.limit_w);  // the reading is a running average too
  state.mean = state.factor;
  return state;
}

}  // namespace overlaptune::sim
