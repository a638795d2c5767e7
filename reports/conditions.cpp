#include "reports/conditions.hpp"

#include <vector>

#include <fmt/format.h>

#include "core/statistics.hpp"

namespace overlaptune {
namespace {

/// `1590 to 1980 MHz, median 1755 MHz`; empty without values.
Cell spread(const std::vector<double>& values, std::string_view unit) {
  if (values.empty()) return {};
  return fmt::format("{:.0f} to {:.0f} {}, median {:.0f} {}", quantile(values, 0),
                     quantile(values, 1), unit, quantile(values, 0.5), unit);
}

}  // namespace

Table conditions(const Snapshot& snapshot) {
  Table table{.name = "conditions", .columns = columns_of("platform, condition, value")};
  for (const PlatformRecord& record : snapshot.platforms) {
    const Platform& platform = record.stored.platform;
    const std::string shown = snapshot.platform_name(record.stored.id);
    const auto add = [&](std::string_view what, Cell value) {
      table.rows.push_back({shown, std::string(what), std::move(value)});
    };
    add("fingerprint", fingerprint(platform));
    for (const PlatformField& field : fields(platform)) add(field.name, field.value);
    if (record.last_run) {
      const Provenance& provenance = record.last_run->provenance;
      add("program_version", provenance.program_version);
      add("host", provenance.host);
      add("command_line", provenance.command_line);
      add("seed", fmt::format("{}", provenance.seed));
      add("started_at", provenance.started_at);
      add("last run", std::string(record.last_run->finished ? "finished" : "not finished"));
    }
    std::vector<double> clocks;
    std::vector<double> powers;
    for (const StoredCandidate& row : snapshot.candidates) {
      if (row.platform != record.stored.id) continue;
      const Conditions& state = row.candidate.conditions;
      if (state.sm_clock_mhz) clocks.push_back(*state.sm_clock_mhz);
      if (state.power_w) powers.push_back(*state.power_w);
    }
    add("sm_clock", spread(clocks, "MHz"));
    add("power", spread(powers, "W"));
  }
  return table;
}

}  // namespace overlaptune
