#include "machine/simulator/launch.hpp"

namespace overlaptune::sim {

LaunchCosts launch_costs(const Profile& profile, const Effects& effects, Launch launch) {
  const LaunchProfile& from = profile.launch;
  const double signal = effects.signal ? from.signal : 0;
  LaunchCosts costs{.trigger = signal + (effects.trigger ? from.trigger : 0),
                    .kernel_trigger = signal + (effects.trigger ? from.kernel_trigger : 0),
                    .signal = signal};
  if (!effects.launch) return costs;
  costs.kernel = from.graph_kernel;
  if (is_eager(launch)) {
    costs.first = from.eager_first;
    costs.submit = from.eager_submit;
  } else {
    costs.around = from.graph_replay;
  }
  return costs;
}

}  // namespace overlaptune::sim
