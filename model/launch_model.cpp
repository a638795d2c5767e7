#include "model/launch_model.hpp"

#include <array>
#include <optional>
#include <string>

namespace overlaptune {

Expected<LaunchModel> LaunchModel::fit(std::span<const Measurement> measurements) {
  std::array<std::optional<double>, NamesOf<LaunchCost>::all.size()> costs{};
  const auto probed = [&](LaunchCost cost) -> std::optional<double>& {
    return costs[static_cast<std::size_t>(cost)];
  };
  for (const Measurement& measurement : measurements) {
    if (const auto* probe = std::get_if<LaunchProbe>(&measurement.probe)) {
      probed(probe->cost) = measurement.time.median.count();
    }
  }
  for (const auto& [cost, name] : NamesOf<LaunchCost>::all) {
    const bool optional = cost == LaunchCost::driver_trigger ||
                          cost == LaunchCost::kernel_trigger ||
                          cost == LaunchCost::reorder_on_few_sms_per_mb;
    if (!probed(cost) && !optional) {
      return bad_input("model: no measurement of launch cost '" + std::string(name) +
                       "' is stored for this platform: run `overlaptune probe` first");
    }
  }
  std::optional<double> of_one_sm = probed(LaunchCost::reorder_on_few_sms_per_mb);
  if (of_one_sm) *of_one_sm *= kFewSms / 1e6;
  return LaunchModel{.replay = *probed(LaunchCost::graph_replay),
                     .kernel_gap = *probed(LaunchCost::graph_kernel),
                     .eager_submit = *probed(LaunchCost::eager_submit),
                     .eager_first = *probed(LaunchCost::eager_first),
                     .trigger = *probed(LaunchCost::signal_trigger),
                     .driver_trigger = probed(LaunchCost::driver_trigger),
                     .kernel_trigger = probed(LaunchCost::kernel_trigger),
                     .reorder_per_byte = *probed(LaunchCost::reorder_per_mb) / 1e6,
                     .reorder_per_byte_and_sm = of_one_sm};
}

}  // namespace overlaptune
