#include "reports/peer_matrix.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "reports/bandwidth.hpp"

namespace overlaptune {
namespace {

constexpr Bytes kMostForLatency{std::int64_t{64} << 10};

std::size_t index_of(int from, int to, int gpus) {
  return static_cast<std::size_t>(from) * static_cast<std::size_t>(gpus) +
         static_cast<std::size_t>(to);
}

std::vector<std::pair<PeerProbe, Microseconds>> copies_by_size(
    std::span<const Measurement> measurements) {
  std::vector<std::pair<PeerProbe, Microseconds>> copies;
  for (const Measurement& measurement : measurements) {
    if (const auto* probe = std::get_if<PeerProbe>(&measurement.probe)) {
      copies.emplace_back(*probe, measurement.time.median);
    }
  }
  std::sort(copies.begin(), copies.end());  // by bytes first
  return copies;
}

/// A square table of one value of each pair; empty where no pair has it.
template <class T>
std::string square(const PeerMatrix& matrix, std::optional<T> PeerLink::*value) {
  if (std::none_of(matrix.links.begin(), matrix.links.end(),
                   [&](const PeerLink& link) { return (link.*value).has_value(); })) {
    return {};
  }
  Table table{.name = "peers", .columns = {{"from"}}};
  for (int to = 0; to < matrix.gpus; ++to) table.columns.push_back({fmt::format("to {}", to)});
  for (int from = 0; from < matrix.gpus; ++from) {
    std::vector<Cell> row{cell(from)};
    for (int to = 0; to < matrix.gpus; ++to) row.push_back(cell(matrix.at(from, to).*value));
    table.rows.push_back(std::move(row));
  }
  return to_markdown(table);
}

}  // namespace

const PeerLink& PeerMatrix::at(int from, int to) const {
  return links[index_of(from, to, gpus)];
}

std::optional<PeerMatrix> peer_matrix(std::span<const Measurement> measurements) {
  const auto copies = copies_by_size(measurements);
  if (copies.empty()) return std::nullopt;
  PeerMatrix matrix;
  for (const auto& [probe, time] : copies) {
    matrix.gpus = std::max({matrix.gpus, probe.from + 1, probe.to + 1});
  }
  matrix.links.resize(index_of(matrix.gpus, 0, matrix.gpus));
  for (const auto& [probe, time] : copies) {
    PeerLink& link = matrix.links[index_of(probe.from, probe.to, matrix.gpus)];
    if (probe.bytes > kMostForLatency) {
      link.gb_per_s = algorithm_bandwidth(probe.bytes, time);
    } else if (!link.latency) {
      link.latency = time;
    }
  }
  return matrix;
}

Table peer_table(const PeerMatrix& matrix) {
  Table table{.name = "peers", .columns = columns_of("from, to, bandwidth_gb_per_s, latency_us")};
  for (int from = 0; from < matrix.gpus; ++from) {
    for (int to = 0; to < matrix.gpus; ++to) {
      const PeerLink& link = matrix.at(from, to);
      if (link == PeerLink{}) continue;
      table.rows.push_back({cell(from), cell(to), cell(link.gb_per_s), cell(link.latency)});
    }
  }
  return table;
}

Table peer_tables(const Snapshot& snapshot) {
  Table all = peer_table({});
  all.columns.insert(all.columns.begin(), {"platform"});
  for (const PlatformRecord& record : snapshot.platforms) {
    const auto matrix = peer_matrix(record.measurements);
    if (!matrix) continue;
    for (auto& row : peer_table(*matrix).rows) {
      row.insert(row.begin(), snapshot.platform_name(record.stored.id));
      all.rows.push_back(std::move(row));
    }
  }
  return all;
}

std::string to_markdown(const PeerMatrix& matrix) {
  const std::string bandwidths = square(matrix, &PeerLink::gb_per_s);
  const std::string latencies = square(matrix, &PeerLink::latency);
  std::string text;
  if (!bandwidths.empty()) {
    text += "Bandwidth of copies in GB/s, from each GPU (rows) to each other (columns):\n\n" +
            bandwidths;
  }
  if (!latencies.empty()) {
    text += fmt::format("{}Time of a copy of a few KiB in µs, launch included:\n\n{}",
                        text.empty() ? "" : "\n", latencies);
  }
  return text;
}

}  // namespace overlaptune
