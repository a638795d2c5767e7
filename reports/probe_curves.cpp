#include "reports/probe_curves.hpp"

#include <algorithm>
#include <map>

#include "reports/bandwidth.hpp"

namespace overlaptune {
namespace {

using Row = std::vector<Cell>;

/// Medians of the points measured alone, with which concurrent measurements are compared.
using Alone = std::map<Probe, Microseconds>;

Alone alone_of(const std::vector<Measurement>& measurements) {
  Alone alone;
  for (const Measurement& measurement : measurements) {
    alone.emplace(measurement.probe, measurement.time.median);
  }
  return alone;
}

double tflop_per_s(const GemmProbe& gemm, Microseconds time) {
  return 2e-6 * static_cast<double>(gemm.m) * static_cast<double>(gemm.n) *
         static_cast<double>(gemm.k) / time.count();
}

/// The cells of a measurement in the table of its kind, behind the platform.
struct CellsOf {
  const Measurement& measurement;
  const Alone& alone;

  Row operator()(const CollectiveProbe& probe) const {
    const double rate = algorithm_bandwidth(probe.bytes, measurement.time.median);
    return with_times({cell(probe.collective), cell(probe.ranks), cell(probe.transport),
                       cell(probe.comm_ctas), probe.bytes.count},
                      {rate, rate, rate * bus_factor(probe.collective, probe.ranks)});
  }
  Row operator()(const GemmProbe& probe) const {
    return with_times(
        {probe.m, probe.n, probe.k, cell(probe.elements), to_string(probe.tile),
         cell(probe.tile.stages), cell(probe.tile.cluster), cell(probe.swizzle), cell(probe.sms)},
        {tflop_per_s(probe, measurement.time.median)});
  }
  Row operator()(const ConcurrentProbe& probe) const {
    const CollectiveProbe& collective = probe.collective;
    std::optional<Microseconds> beside;
    if (measurement.collective_time) beside = measurement.collective_time->median;
    return {to_string(Probe(probe.gemm)),
            cell(collective.collective),
            cell(collective.ranks),
            cell(collective.transport),
            cell(collective.comm_ctas),
            collective.bytes.count,
            cell(measurement.time.median),
            slowdown(probe.gemm, measurement.time.median),
            cell(beside),
            beside ? slowdown(collective, *beside) : Cell()};
  }
  Row operator()(const SustainedProbe& probe) const {
    const Conditions& conditions = measurement.conditions;
    return {to_string(Probe(probe.gemm)),
            cell(probe.collective.collective),
            probe.collective.bytes.count,
            cell(measurement.time.median),
            tflop_per_s(probe.gemm, measurement.time.median),
            cell(conditions.sm_clock_mhz),
            cell(conditions.power_w)};
  }
  Row operator()(const CopyProbe& probe) const {
    return with_times({cell(probe.ctas), probe.bytes.count},
                      {algorithm_bandwidth(probe.bytes, measurement.time.median)});
  }
  Row operator()(const LaunchProbe& probe) const { return with_times({cell(probe.cost)}, {}); }
  Row operator()(const PeerProbe& probe) const {
    return with_times({cell(probe.from), cell(probe.to), probe.bytes.count},
                      {algorithm_bandwidth(probe.bytes, measurement.time.median)});
  }
  Row operator()(const LayerProbe& probe) const {
    // Attention has operations, all other work has bytes.
    const double per_us = static_cast<double>(probe.amount) / measurement.time.median.count();
    const bool in_bytes = probe.work != LayerWork::attention;
    return with_times(
        {cell(probe.work), cell(probe.ranks), probe.amount},
        {in_bytes ? Cell(1e-3 * per_us) : Cell(), in_bytes ? Cell() : Cell(1e-6 * per_us)});
  }

 private:
  [[nodiscard]] Row with_times(Row row, const Row& behind) const {
    const Summary& time = measurement.time;
    row.insert(row.end(), {cell(time.median), cell(time.p10), cell(time.p90), cell(time.count)});
    row.insert(row.end(), behind.begin(), behind.end());
    return row;
  }
  [[nodiscard]] Cell slowdown(const Probe& probe, Microseconds together) const {
    const auto found = alone.find(probe);
    return found == alone.end() ? Cell() : Cell(together / found->second);
  }
};

/// The tables in the order of `Probe`'s alternatives.
std::vector<Table> empty_tables() {
  return {
      {"gemms", columns_of("platform, m, n, k, dtype, tile, stages, cluster, swizzle, sms, "
                           "time_us, p10_us, p90_us, repetitions, tflop_per_s")},
      {"collectives",
       columns_of("platform, collective, ranks, transport, comm_ctas, bytes, time_us, p10_us, "
                  "p90_us, repetitions, bandwidth_gb_per_s, algbw_gb_per_s, busbw_gb_per_s")},
      {"contention", columns_of("platform, gemm, collective, ranks, transport, comm_ctas, bytes, "
                                "gemm_us, gemm_slowdown:3, collective_us, collective_slowdown:3")},
      {"sustained",
       columns_of(
           "platform, gemm, collective, bytes, round_us, tflop_per_s, sm_clock_mhz, power_w")},
      {"copies",
       columns_of(
           "platform, ctas, bytes, time_us, p10_us, p90_us, repetitions, bandwidth_gb_per_s")},
      {"launch_costs", columns_of("platform, cost, time_us:2, p10_us:2, p90_us:2, repetitions")},
      {"peer_copies",
       columns_of(
           "platform, from, to, bytes, time_us, p10_us, p90_us, repetitions, bandwidth_gb_per_s")},
      {"layer_operations", columns_of("platform, work, ranks, amount, time_us, p10_us, p90_us, "
                                      "repetitions, gb_per_s, tflop_per_s")}};
}

}  // namespace

std::vector<Table> probe_curves(const Snapshot& snapshot) {
  std::vector<Table> tables = empty_tables();
  for (const PlatformRecord& record : snapshot.platforms) {
    std::vector<Measurement> sorted = record.measurements;
    std::ranges::sort(sorted, {}, &Measurement::probe);
    const Alone alone = alone_of(sorted);
    const std::string platform = snapshot.platform_name(record.stored.id);
    for (const Measurement& measurement : sorted) {
      Row row = std::visit(CellsOf{measurement, alone}, measurement.probe);
      row.insert(row.begin(), platform);
      tables[measurement.probe.index()].rows.push_back(std::move(row));
    }
  }
  std::swap(tables[0], tables[1]);  // collectives come first
  return tables;
}

}  // namespace overlaptune
