#include "model/launch_model.hpp"

#include <array>
#include <optional>
#include <string>

namespace overlaptune {

Expected<LaunchModel> LaunchModel::fit(std::span<const Measurement> measurements) {
  std::array<std::optional<double>, NamesOf<LaunchCost>::all.size()> costs{};
  for (const Measurement& measurement : measurements) {
    if (const auto* probe = std::get_if<LaunchProbe>(&measurement.probe)) {
      costs[static_cast<std::size_t>(probe->cost)] = measurement.time.median.count();
    }
  }
  for (const auto& [cost, name] : NamesOf<LaunchCost>::all) {
    const bool optional = cost == LaunchCost::driver_trigger ||
                          cost == LaunchCost::kernel_trigger ||
                          cost == LaunchCost::reorder_on_few_sms_per_mb;
    if (!costs[static_cast<std::size_t>(cost)] && !optional) {
      return bad_input("model: no measurement of launch cost '" + std::string(name) +
                       "' is stored for this platform: run `overlaptune probe` first");
    }
  }
  auto cost = [&](LaunchCost which) { return *costs[static_cast<std::size_t>(which)]; };
  std::optional<double> of_one_sm =
      costs[static_cast<std::size_t>(LaunchCost::reorder_on_few_sms_per_mb)];
  if (of_one_sm) *of_one_sm *= kFewSms / 1e6;
  return LaunchModel{.replay = cost(LaunchCost::graph_replay),
                     .kernel_gap = cost(LaunchCost::graph_kernel),
                     .eager_submit = cost(LaunchCost::eager_submit),
                     .eager_first = cost(LaunchCost::eager_first),
                     .trigger = cost(LaunchCost::signal_trigger),
                     .driver_trigger = costs[static_cast<std::size_t>(LaunchCost::driver_trigger)],
                     .kernel_trigger = costs[static_cast<std::size_t>(LaunchCost::kernel_trigger)],
                     .reorder_per_byte = cost(LaunchCost::reorder_per_mb) / 1e6,
                     .reorder_per_byte_and_sm = of_one_sm};
}

}  // namespace overlaptune
