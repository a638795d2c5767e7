#include "reports/probe_curves.hpp"

#include <algorithm>
#include <map>

#include "reports/bandwidth.hpp"

namespace overlaptune {
namespace {

Cell name(std::string_view text) {
  return std::string(text);
}

Cell count(std::int64_t value) {
  return value;
}

double tflop_per_s(const GemmProbe& gemm, Microseconds time) {
  return 2e-6 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
         static_cast<double>(gemm.k) / time.count();
}

using Row = std::vector<Cell>;

void append_times(Row& row, const Summary& time) {
  row.insert(row.end(),
             {time.median.count(), time.p10.count(), time.p90.count(), count(time.count)});
}

/// Medians of the points measured alone, with which concurrent measurements are compared.
using Alone = std::map<Probe, Microseconds>;

Alone alone_of(const std::vector<Measurement>& measurements) {
  Alone alone;
  for (const Measurement& measurement : measurements) {
    alone.emplace(measurement.probe, measurement.time.median);
  }
  return alone;
}

Cell factor(const Alone& alone, const Probe& probe, Microseconds together) {
  const auto found = alone.find(probe);
  return found == alone.end() ? Cell() : Cell(together / found->second);
}

/// Appends a measurement to the table of its kind.
class Curves {
 public:
  void add(const std::string& platform, const Measurement& measurement, const Alone& alone) {
    std::visit([&](const auto& probe) { add(probe, platform, measurement, alone); },
               measurement.probe);
  }

  [[nodiscard]] std::vector<Table> tables() && {
    return {std::move(collectives_), std::move(gemms_),           std::move(contention_),
            std::move(sustained_),   std::move(copies_),          std::move(launch_costs_),
            std::move(peer_copies_), std::move(layer_operations_)};
  }

 private:
  void add(const CollectiveProbe& probe, const std::string& platform,
           const Measurement& measurement, const Alone& /*alone*/) {
    Row row{platform,
            name(to_string(probe.collective)),
            count(probe.ranks),
            name(to_string(probe.transport)),
            count(probe.comm_ctas),
            probe.bytes.count};
    append_times(row, measurement.time);
    const double rate = algorithm_bandwidth(probe.bytes, measurement.time.median);
    row.insert(row.end(), {rate, rate, rate * bus_factor(probe.collective, probe.ranks)});
    collectives_.rows.push_back(std::move(row));
  }

  void add(const GemmProbe& probe, const std::string& platform, const Measurement& measurement,
           const Alone& /*alone*/) {
    Row row{platform,
            probe.m,
            probe.n,
            probe.k,
            name(to_string(probe.elements)),
            to_string(probe.tile),
            count(probe.tile.stages),
            count(probe.tile.cluster),
            count(probe.swizzle),
            count(probe.sms)};
    append_times(row, measurement.time);
    row.emplace_back(tflop_per_s(probe, measurement.time.median));
    gemms_.rows.push_back(std::move(row));
  }

  void add(const ConcurrentProbe& probe, const std::string& platform,
           const Measurement& measurement, const Alone& alone) {
    const Microseconds gemm = measurement.time.median;
    Cell collective;
    Cell collective_factor;
    if (measurement.collective_time) {
      collective = measurement.collective_time->median.count();
      collective_factor = factor(alone, probe.collective, measurement.collective_time->median);
    }
    contention_.rows.push_back(
        {platform, to_string(Probe(probe.gemm)), name(to_string(probe.collective.collective)),
         count(probe.collective.ranks), name(to_string(probe.collective.transport)),
         count(probe.collective.comm_ctas), probe.collective.bytes.count, gemm.count(),
         factor(alone, probe.gemm, gemm), collective, collective_factor});
  }

  void add(const SustainedProbe& probe, const std::string& platform, const Measurement& measurement,
           const Alone& /*alone*/) {
    const Conditions& conditions = measurement.conditions;
    sustained_.rows.push_back({platform, to_string(Probe(probe.gemm)),
                               name(to_string(probe.collective.collective)),
                               probe.collective.bytes.count, measurement.time.median.count(),
                               tflop_per_s(probe.gemm, measurement.time.median),
                               conditions.sm_clock_mhz ? Cell(*conditions.sm_clock_mhz) : Cell(),
                               conditions.power_w ? Cell(*conditions.power_w) : Cell()});
  }

  void add(const CopyProbe& probe, const std::string& platform, const Measurement& measurement,
           const Alone& /*alone*/) {
    Row row{platform, count(probe.ctas), probe.bytes.count};
    append_times(row, measurement.time);
    row.emplace_back(algorithm_bandwidth(probe.bytes, measurement.time.median));
    copies_.rows.push_back(std::move(row));
  }

  void add(const LaunchProbe& probe, const std::string& platform, const Measurement& measurement,
           const Alone& /*alone*/) {
    Row row{platform, name(to_string(probe.cost))};
    append_times(row, measurement.time);
    launch_costs_.rows.push_back(std::move(row));
  }

  void add(const PeerProbe& probe, const std::string& platform, const Measurement& measurement,
           const Alone& /*alone*/) {
    Row row{platform, count(probe.from), count(probe.to), probe.bytes.count};
    append_times(row, measurement.time);
    row.emplace_back(algorithm_bandwidth(probe.bytes, measurement.time.median));
    peer_copies_.rows.push_back(std::move(row));
  }

  void add(const LayerProbe& probe, const std::string& platform, const Measurement& measurement,
           const Alone& /*alone*/) {
    Row row{platform, name(to_string(probe.work)), count(probe.ranks), probe.amount};
    append_times(row, measurement.time);
    // Attention has operations, all other work has bytes.
    const double per_us = static_cast<double>(probe.amount) / measurement.time.median.count();
    const bool in_bytes = probe.work != LayerWork::attention;
    row.push_back(in_bytes ? Cell(1e-3 * per_us) : Cell());
    row.push_back(in_bytes ? Cell() : Cell(1e-6 * per_us));
    layer_operations_.rows.push_back(std::move(row));
  }

  Table collectives_{.name = "collectives",
                     .columns = {{"platform"},
                                 {"collective"},
                                 {"ranks"},
                                 {"transport"},
                                 {"comm_ctas"},
                                 {"bytes"},
                                 {"time_us"},
                                 {"p10_us"},
                                 {"p90_us"},
                                 {"repetitions"},
                                 {"bandwidth_gb_per_s"},
                                 {"algbw_gb_per_s"},
                                 {"busbw_gb_per_s"}}};
  Table gemms_{.name = "gemms",
               .columns = {{"platform"},
                           {"m"},
                           {"n"},
                           {"k"},
                           {"dtype"},
                           {"tile"},
                           {"stages"},
                           {"cluster"},
                           {"swizzle"},
                           {"sms"},
                           {"time_us"},
                           {"p10_us"},
                           {"p90_us"},
                           {"repetitions"},
                           {"tflop_per_s"}}};
  Table contention_{.name = "contention",
                    .columns = {{"platform"},
                                {"gemm"},
                                {"collective"},
                                {"ranks"},
                                {"transport"},
                                {"comm_ctas"},
                                {"bytes"},
                                {"gemm_us"},
                                {"gemm_slowdown", 3},
                                {"collective_us"},
                                {"collective_slowdown", 3}}};
  Table sustained_{.name = "sustained",
                   .columns = {{"platform"},
                               {"gemm"},
                               {"collective"},
                               {"bytes"},
                               {"round_us"},
                               {"tflop_per_s"},
                               {"sm_clock_mhz"},
                               {"power_w"}}};
  Table copies_{.name = "copies",
                .columns = {{"platform"},
                            {"ctas"},
                            {"bytes"},
                            {"time_us"},
                            {"p10_us"},
                            {"p90_us"},
                            {"repetitions"},
                            {"bandwidth_gb_per_s"}}};
  Table launch_costs_{
      .name = "launch_costs",
      .columns = {
          {"platform"}, {"cost"}, {"time_us", 2}, {"p10_us", 2}, {"p90_us", 2}, {"repetitions"}}};
  Table peer_copies_{.name = "peer_copies",
                     .columns = {{"platform"},
                                 {"from"},
                                 {"to"},
                                 {"bytes"},
                                 {"time_us"},
                                 {"p10_us"},
                                 {"p90_us"},
                                 {"repetitions"},
                                 {"bandwidth_gb_per_s"}}};
  Table layer_operations_{.name = "layer_operations",
                          .columns = {{"platform"},
                                      {"work"},
                                      {"ranks"},
                                      {"amount"},
                                      {"time_us"},
                                      {"p10_us"},
                                      {"p90_us"},
                                      {"repetitions"},
                                      {"gb_per_s"},
                                      {"tflop_per_s"}}};
};

}  // namespace

std::vector<Table> probe_curves(const Snapshot& snapshot) {
  Curves curves;
  for (const PlatformRecord& record : snapshot.platforms) {
    std::vector<Measurement> sorted = record.measurements;
    std::sort(sorted.begin(), sorted.end(),
              [](const Measurement& a, const Measurement& b) { return a.probe < b.probe; });
    const Alone alone = alone_of(sorted);
    const std::string platform = snapshot.platform_name(record.stored.id);
    for (const Measurement& measurement : sorted) {
      curves.add(platform, measurement, alone);
    }
  }
  return std::move(curves).tables();
}

}  // namespace overlaptune
