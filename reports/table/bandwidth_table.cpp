#include "reports/table/bandwidth_table.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "reports/bandwidth.hpp"

namespace overlaptune {
namespace {

struct Point {
  CollectiveProbe probe{};
  Microseconds time{};
};

/// The points of one collective and rank count, by size.
using Sizes = std::map<Bytes, std::vector<Point>>;

std::map<std::pair<Collective, int>, Sizes> sorted(std::span<const Measurement> measurements) {
  std::map<std::pair<Collective, int>, Sizes> all;
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<CollectiveProbe>(&measurement.probe);
    if (probe == nullptr) continue;
    all[{probe->collective, probe->ranks}][probe->bytes].push_back(
        {*probe, measurement.time.median});
  }
  return all;
}

/// The smallest, the middle and the largest size, each with its fastest point.
Sizes shortened(const Sizes& all) {
  Sizes few;
  for (const std::size_t index : {std::size_t{0}, all.size() / 2, all.size() - 1}) {
    const auto& [bytes, points] = *std::next(all.begin(), static_cast<std::ptrdiff_t>(index));
    few[bytes] = {*std::ranges::min_element(points, {}, &Point::time)};
  }
  return few;
}

std::vector<Cell> row(const Point& point) {
  const CollectiveProbe& probe = point.probe;
  const double rate = algorithm_bandwidth(probe.bytes, point.time);
  return {cell(probe.collective),
          cell(probe.ranks),
          probe.bytes.count,
          cell(probe.transport),
          probe.comm_ctas == kNcclsChoice ? Cell() : cell(probe.comm_ctas),
          point.time.count(),
          rate,
          rate * bus_factor(probe.collective, probe.ranks)};
}

}  // namespace

Table bandwidth_table(std::span<const Measurement> measurements, bool every_point) {
  Table table{.name = "bandwidths",
              .columns = columns_of("collective, ranks, bytes, transport, comm_ctas, time_us, "
                                    "algbw_gb_per_s, busbw_gb_per_s")};
  for (const auto& [key, all] : sorted(measurements)) {
    for (const auto& [bytes, points] : every_point ? all : shortened(all)) {
      for (const Point& point : points) table.rows.push_back(row(point));
    }
  }
  return table;
}

}  // namespace overlaptune
