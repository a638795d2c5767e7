#include "machine/sim/launch.hpp"

namespace overlaptune::sim {

LaunchCosts launch_costs(const Profile& profile, const Effects& effects, Launch launch) {
  const LaunchProfile& from = profile.launch;
  LaunchCosts costs{.trigger =
                        (effects.signal ? from.signal : 0) + (effects.trigger ? from.trigger : 0)};
  if (!effects.launch) return costs;
  costs.kernel = from.graph_kernel;
  if (launch == Launch::graph) {
    costs.around = from.graph_replay;
  } else {
    costs.first = from.eager_first;
    costs.submit = from.eager_submit;
  }
  return costs;
}

}  // namespace overlaptune::sim
