#pragma once
// The whole report on a database, in the format asked for.

#include <optional>
#include <string>
#include <vector>

#include "core/base/names.hpp"
#include "reports/snapshot.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

enum class ReportFormat { markdown, csv, json, html };

template <>
struct NamesOf<ReportFormat> {
  static constexpr std::string_view what = "format";
  static constexpr std::array<Named<ReportFormat>, 4> all{{{ReportFormat::markdown, "md"},
                                                           {ReportFormat::csv, "csv"},
                                                           {ReportFormat::json, "json"},
                                                           {ReportFormat::html, "html"}}};
};

/// A part of the report.
enum class Section {
  winners,
  means,
  error,
  regret,
  phases,
  comparison,
  failures,
  conditions,
  peers,
  probes
};

template <>
struct NamesOf<Section> {
  static constexpr std::string_view what = "part of the report";
  static constexpr std::array<Named<Section>, 10> all{{{Section::winners, "winners"},
                                                       {Section::means, "means"},
                                                       {Section::error, "error"},
                                                       {Section::regret, "regret"},
                                                       {Section::phases, "phases"},
                                                       {Section::comparison, "comparison"},
                                                       {Section::failures, "failures"},
                                                       {Section::conditions, "conditions"},
                                                       {Section::peers, "peers"},
                                                       {Section::probes, "probes"}}};
};

struct ReportOptions {
  ReportFormat format = ReportFormat::markdown;
  int shortlist = 5;  ///< as in `evaluate`
  /// The parts wanted. Empty: all of them, but in Markdown no probes, which are a thousand lines,
  /// and no phases.
  std::vector<Section> only{};
};

/// The first lines of a report: what was measured, when, on what, and what came of it. A Markdown
/// list with one line for each platform: `8 × NVIDIA H200 (cuda:h200-nvlink-x8), driver 580.1, …;
/// 2026-11-22 on node7, overlaptune 0.1.0: 24 winners, 1.26 times as fast as sequential in the
/// geometric mean`. Simulated platforms are marked.
[[nodiscard]] std::string summary(const Snapshot& snapshot);

/// The report as Markdown, CSV or JSON: winners, means, prediction error and regret, comparison
/// with `other` if there is one, conditions, peer matrices, probe curves. As CSV, each table
/// follows a line
/// `# name` and ends with a blank line; as JSON, the document has one field for each table
/// (docs/reports.md).
[[nodiscard]] std::string report(const Snapshot& snapshot, const std::optional<Snapshot>& other,
                                 const ReportOptions& options);

/// The tables of the report as CSV has them, to be written one a file.
[[nodiscard]] std::vector<Table> report_tables(const Snapshot& snapshot,
                                               const std::optional<Snapshot>& other,
                                               const ReportOptions& options);

}  // namespace overlaptune
