#include "same_configs.hpp"

#include <cmath>
#include <map>

#include <fmt/format.h>

#include "core/statistics.hpp"

namespace overlaptune {

std::vector<SimulatedErrors> simulated_errors(Machine& machine,
                                              std::span<const Candidate> measured) {
  std::map<std::string, std::vector<double>> errors;
  for (const Candidate& each : measured) {
    if (each.verdict != Verdict::valid || !each.measured) continue;
    const auto results = machine.run(each.problem, {&each.config, 1}, {.launch = each.launch});
    if (!results || results->front().verdict != Verdict::valid) continue;
    const double simulated = summarize(slowest_rank(results->front())).median.count();
    errors[std::string(to_string(strategy_of(each.config)))].push_back(
        simulated / each.measured->median.count() - 1);
  }
  std::vector<SimulatedErrors> strategies;
  for (auto& [strategy, list] : errors) strategies.push_back({strategy, std::move(list)});
  return strategies;
}

void print_simulated_errors(const std::vector<SimulatedErrors>& strategies) {
  fmt::print(
      "| the same configs | number | mean error, % | half are below, % | a tenth is below, % | a "
      "tenth is above, % |\n|---|--:|--:|--:|--:|--:|\n");
  for (const SimulatedErrors& each : strategies) {
    std::vector<double> sizes;
    for (const double error : each.errors) sizes.push_back(std::abs(error));
    fmt::print("| `{}` | {} | {:.1f} | {:+.1f} | {:+.1f} | {:+.1f} |\n", each.strategy,
               each.errors.size(), 100 * mean(sizes), 100 * quantile(each.errors, 0.5),
               100 * quantile(each.errors, 0.1), 100 * quantile(each.errors, 0.9));
  }
}

}  // namespace overlaptune
