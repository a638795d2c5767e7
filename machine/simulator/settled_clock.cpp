#include "machine/simulator/settled_clock.hpp"

namespace overlaptune::sim {

ClockState settled_clock(const Setting& setting, const Load& work, double around,
                         const std::function<RunTimes(double factor)>& run) {
  const Background& background = setting.background;
  const Load all{.flops = work.flops + background.work.flops,
                 .wire_bytes = work.wire_bytes + background.work.wire_bytes,
                 .loaded_bytes = work.loaded_bytes + background.work.loaded_bytes,
                 .memory_bytes = work.memory_bytes + background.work.memory_bytes};
  ClockState state;
  for (int pass = 0; pass < 4; ++pass) {
    const RunTimes own = run(state.factor);
    const double other_gemms = background.gemm / state.factor;
    state = clock_state(*setting.profile, setting.effects, all,
                        {.time = around + own.all + other_gemms + background.other,
                         .gemm = own.gemm + other_gemms,
                         .at = state.factor,
                         .settled = setting.settled});
  }
  return state;
}

}  // namespace overlaptune::sim
