#include "reports/report.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/statistics.hpp"
#include "reports/comparison.hpp"
#include "reports/conditions.hpp"
#include "reports/json.hpp"
#include "reports/peer_matrix.hpp"
#include "reports/phases.hpp"
#include "reports/probe_curves.hpp"
#include "reports/products.hpp"
#include "reports/quality/evaluation.hpp"
#include "reports/winners.hpp"

namespace overlaptune {
namespace {

/// The parts that make up a report.
struct Parts {
  const Snapshot& snapshot;
  const ReportOptions& options;
  std::vector<Evaluation> evaluations{};
  std::optional<Comparison> comparison{};

  [[nodiscard]] bool wants(Section section) const {
    const auto& only = options.only;
    if (!only.empty()) return std::find(only.begin(), only.end(), section) != only.end();
    const bool is_long = section == Section::phases || section == Section::probes;
    return !is_long || options.format != ReportFormat::markdown;
  }
};

Parts parts_of(const Snapshot& snapshot, const std::optional<Snapshot>& other,
               const ReportOptions& options) {
  Parts parts{.snapshot = snapshot,
              .options = options,
              .evaluations = evaluate(snapshot, options.shortlist)};
  if (other) parts.comparison = compare(snapshot, *other);
  return parts;
}

/// One row for each candidate whose verdict is not `valid`.
Table failures(const Snapshot& snapshot) {
  Table table{.name = "failures",
              .columns = columns_of("platform, problem, launch, config, verdict, reason")};
  for (const StoredCandidate& row : snapshot.candidates) {
    const Candidate& candidate = row.candidate;
    if (candidate.verdict == Verdict::valid) continue;
    table.rows.push_back({snapshot.platform_name(row.platform), to_string(candidate.problem),
                          cell(candidate.launch), to_string(candidate.config),
                          cell(candidate.verdict), candidate.reason});
  }
  return table;
}

void append_section(std::string& text, std::string_view title, const Table& table) {
  text += fmt::format("\n## {}\n\n", title);
  text += table.rows.empty() ? "None.\n" : to_markdown(table);
}

void append_winners(std::string& text, const Parts& parts) {
  const WinnerPhases phases(parts.snapshot);
  for (const PlatformRecord& record : parts.snapshot.platforms) {
    const StoredPlatform& stored = record.stored;
    std::vector<Winner> winners;
    std::vector<std::array<Cell, 2>> speedups;
    for (const StoredWinner& row : parts.snapshot.winners) {
      if (row.platform != stored.id) continue;
      winners.push_back(row.winner);
      speedups.push_back(
          {cell(phases.speedup(row, RunPhase::cold)), cell(phases.speedup(row, RunPhase::beside))});
    }
    Table table = winners_with_overlap(winners, record.layer_gemms);
    table.columns.insert(table.columns.end(), {{"cold", 3}, {"beside", 3}});
    for (std::size_t i = 0; i < speedups.size(); ++i) {
      table.rows[i].insert(table.rows[i].end(), speedups[i].begin(), speedups[i].end());
    }
    append_section(text, fmt::format("Winners on {}", parts.snapshot.platform_name(stored.id)),
                   table);
  }
}

void append_comparison(std::string& text, const Comparison& comparison) {
  append_section(text, "Comparison", comparison_table(comparison));
  for (const std::string& line : comparison.platform_differences) {
    text += fmt::format("\nPlatforms differ: {}\n", line);
  }
}

/// The peer matrix of each platform. Those that have none are left out, unless one asked for it.
void append_peers(std::string& text, const Parts& parts) {
  for (const PlatformRecord& record : parts.snapshot.platforms) {
    const auto matrix = peer_matrix(record.measurements);
    if (!matrix && parts.options.only.empty()) continue;
    text +=
        fmt::format("\n## Peer matrix of {}\n\n{}", parts.snapshot.platform_name(record.stored.id),
                    matrix ? to_markdown(*matrix) : "None.\n");
  }
}

void append_probes(std::string& text, const Snapshot& snapshot) {
  for (const Table& table : probe_curves(snapshot)) {
    std::string title = "Probes: " + table.name;
    std::replace(title.begin(), title.end(), '_', ' ');
    append_section(text, title, table);
  }
}

std::string as_markdown(const Parts& parts) {
  std::string text = "# overlaptune report\n\n" + summary(parts.snapshot);
  const auto append = [&](Section section, std::string_view title, const auto& table) {
    if (parts.wants(section)) append_section(text, title, table());
  };
  if (parts.wants(Section::winners)) append_winners(text, parts);
  append(Section::means, "Means", [&] { return winner_means(parts.snapshot); });
  append(Section::error, "Prediction error", [&] { return error_table(parts.evaluations); });
  append(Section::regret, "Regret", [&] { return regret_table(parts.evaluations); });
  append(Section::phases, "Second runs", [&] { return phases(parts.snapshot); });
  if (parts.comparison && parts.wants(Section::comparison)) {
    append_comparison(text, *parts.comparison);
  }
  append(Section::failures, "Failures", [&] { return failures(parts.snapshot); });
  append(Section::conditions, "Conditions", [&] { return conditions(parts.snapshot); });
  if (parts.wants(Section::peers)) append_peers(text, parts);
  if (parts.wants(Section::probes)) append_probes(text, parts.snapshot);
  return text;
}

std::vector<Table> tables_of(const Parts& parts) {
  std::vector<Table> tables;
  const auto add = [&](Section section, const auto& table) {
    if (parts.wants(section)) tables.push_back(table());
  };
  add(Section::winners, [&] { return winners_in_full(parts.snapshot); });
  add(Section::means, [&] { return winner_means(parts.snapshot); });
  add(Section::error, [&] { return error_table(parts.evaluations); });
  add(Section::regret, [&] { return regret_table(parts.evaluations); });
  add(Section::phases, [&] { return phases(parts.snapshot); });
  if (parts.comparison) {
    add(Section::comparison, [&] { return comparison_table(*parts.comparison); });
  }
  add(Section::failures, [&] { return failures(parts.snapshot); });
  add(Section::conditions, [&] { return conditions(parts.snapshot); });
  add(Section::peers, [&] { return peer_tables(parts.snapshot); });
  if (parts.wants(Section::probes)) {
    for (Table& table : probe_curves(parts.snapshot)) tables.push_back(std::move(table));
  }
  return tables;
}

std::string as_csv(const Parts& parts) {
  std::string text;
  for (const Table& table : tables_of(parts)) {
    text += fmt::format("{}# {}\n{}", text.empty() ? "" : "\n", table.name, to_csv(table));
  }
  return text;
}

OrderedJson winners_json(const Snapshot& snapshot) {
  OrderedJson list = OrderedJson::array();
  const WinnerPhases phases(snapshot);
  for (const StoredWinner& row : snapshot.winners) {
    OrderedJson winner = {{"platform", snapshot.platform_name(row.platform)},
                          {"fingerprint", snapshot.fingerprint_of(row.platform)}};
    winner.update(json_of(row.winner));
    winner["phases"] = json_of(phases, row);
    winner["validated_at"] = row.validated_at;
    winner["layer_gemms"] = json_of(snapshot.products(row.platform, row.winner.candidate.problem));
    list.push_back(std::move(winner));
  }
  return list;
}

std::string as_json(const Parts& parts) {
  OrderedJson document;
  const auto add = [&](Section section, const auto& table) {
    if (parts.wants(section)) document[std::string(to_string(section))] = to_json_rows(table());
  };
  document["platforms"] = OrderedJson::array();
  for (const PlatformRecord& record : parts.snapshot.platforms) {
    document["platforms"].push_back(json_of(record.stored.platform));
  }
  if (parts.wants(Section::winners)) document["winners"] = winners_json(parts.snapshot);
  add(Section::means, [&] { return winner_means(parts.snapshot); });
  if (parts.wants(Section::error) || parts.wants(Section::regret)) {
    document["evaluation"] = OrderedJson::array();
    for (const Evaluation& evaluation : parts.evaluations) {
      document["evaluation"].push_back(json_of(evaluation));
    }
  }
  add(Section::phases, [&] { return phases(parts.snapshot); });
  if (parts.wants(Section::comparison)) {
    document["comparison"] = parts.comparison ? json_of(*parts.comparison) : OrderedJson();
  }
  add(Section::failures, [&] { return failures(parts.snapshot); });
  add(Section::conditions, [&] { return conditions(parts.snapshot); });
  add(Section::peers, [&] { return peer_tables(parts.snapshot); });
  if (parts.wants(Section::probes)) {
    OrderedJson& probes = document["probes"];
    for (const Table& table : probe_curves(parts.snapshot)) {
      probes[table.name] = to_json_rows(table);
    }
  }
  return document.dump(2, ' ', false, OrderedJson::error_handler_t::replace) + "\n";
}

std::string hardware(const Platform& platform) {
  return fmt::format("{} × {} ({}{}), driver {}, CUDA {}, NCCL {}, NVLink multicast {}",
                     platform.gpu_count, platform.gpu_model, full_name(platform),
                     is_simulated(platform) ? ", simulated" : "", platform.driver_version,
                     platform.cuda_version, platform.nccl_version,
                     platform.multicast_allowed ? "on" : "off");
}

std::string origin(const TuningRun& run) {
  constexpr std::size_t kDay = 10;  // 2026-01-31 of a time in ISO 8601
  const Provenance& provenance = run.provenance;
  return fmt::format("; {} on {}, overlaptune {}{}", provenance.started_at.substr(0, kDay),
                     provenance.host, provenance.program_version,
                     run.finished ? "" : " (not finished)");
}

std::string outcome(const Snapshot& snapshot, PlatformId platform) {
  std::vector<double> speedups;
  for (const StoredWinner& row : snapshot.winners) {
    if (row.platform != platform) continue;
    if (const auto ratio = speedup(row.winner)) speedups.push_back(*ratio);
  }
  if (speedups.empty()) return "no winners";
  return fmt::format("{} winner{}, {:.2f} times as fast as sequential in the geometric mean",
                     speedups.size(), speedups.size() == 1 ? "" : "s", geometric_mean(speedups));
}

}  // namespace

std::string summary(const Snapshot& snapshot) {
  std::string text;
  for (const PlatformRecord& record : snapshot.platforms) {
    const StoredPlatform& stored = record.stored;
    const std::string line =
        fmt::format("{}{}: {}", hardware(stored.platform),
                    record.last_run ? origin(*record.last_run) : "", outcome(snapshot, stored.id));
    text += fmt::format("- {}\n", printable(line));
  }
  return text;
}

std::string report(const Snapshot& snapshot, const std::optional<Snapshot>& other,
                   const ReportOptions& options) {
  const Parts parts = parts_of(snapshot, other, options);
  switch (options.format) {
    case ReportFormat::markdown:
      return as_markdown(parts);
    case ReportFormat::csv:
      return as_csv(parts);
    case ReportFormat::json:
      return as_json(parts);
    case ReportFormat::html:
      break;  // `html_report`
  }
  return {};
}

std::vector<Table> report_tables(const Snapshot& snapshot, const std::optional<Snapshot>& other,
                                 const ReportOptions& options) {
  return tables_of(parts_of(snapshot, other, options));
}

}  // namespace overlaptune
