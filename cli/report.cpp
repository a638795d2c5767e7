// overlaptune report: prints everything in a database, for people or for programs.

#include "reports/report.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/predicted_pairs.hpp"
#include "cli/problem_flags.hpp"
#include "db/rules.hpp"
#include "reports/html_report.hpp"

namespace overlaptune::cli {
namespace {

struct ReportFlags {
  CommonFlags common{};
  std::string database{};
  std::string other{};
  std::string out{};
  std::optional<ReportFormat> format{};
  int shortlist = ReportOptions{}.shortlist;
};

ReportFormat format_of(const ReportFlags& flags) {
  if (!flags.common.json) return flags.format.value_or(ReportFormat::markdown);
  if (flags.format.value_or(ReportFormat::json) != ReportFormat::json) {
    throw Failure(ErrorKind::bad_input, fmt::format("--format {} and --json: give one of them",
                                                    to_string(*flags.format)));
  }
  return ReportFormat::json;
}

std::string file_name(const std::string& path) {
  return std::filesystem::path(path).filename().string();
}

std::string as_html(const ReportFlags& flags, const Snapshot& snapshot,
                    const std::optional<Snapshot>& other) {
  return html_report({.snapshot = snapshot,
                      .other = other,
                      .predicted = predicted_pairs(snapshot),
                      .shortlist = flags.shortlist,
                      .version = version(),
                      .database = file_name(flags.database),
                      .compared = file_name(flags.other),
                      .made_at = db::utc_now()});
}

int report(const ReportFlags& flags, const Session& /*session*/) {
  const Snapshot snapshot = take_snapshot(Store(flags.database, Access::read));
  std::optional<Snapshot> other;
  if (!flags.other.empty()) other = take_snapshot(Store(flags.other, Access::read));
  if (snapshot.platforms.empty()) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("--db {}: nothing is stored: run `overlaptune tune` into this "
                              "database first",
                              flags.database));
  }
  const ReportFormat format = format_of(flags);
  const std::string text =
      format == ReportFormat::html
          ? as_html(flags, snapshot, other)
          : overlaptune::report(snapshot, other, {.format = format, .shortlist = flags.shortlist});
  print_or_write(text, flags.out);
  return kDone;
}

}  // namespace

void add_report(CLI::App& root, Session& session) {
  auto flags = std::make_shared<ReportFlags>();
  CLI::App* command = add_command(
      root, "report", "Winners, speedups, prediction error, conditions and probe curves",
      "overlaptune report --db f.db --format md --out report.md --compare before.db",
      flags->common);
  add_database_flag(*command, flags->database);
  add_parsed(*command, "--format", flags->format, parse_name<ReportFormat>,
             "md (the default), csv, json, which --json asks for, too, or html: one page "
             "with figures that opens without a network")
      ->type_name("FORMAT");
  command->add_option("--out", flags->out, "File to write instead of standard output")
      ->type_name("FILE");
  command->add_option("--compare", flags->other, "Database to tell the differences from")
      ->type_name("FILE");
  add_parsed(*command, "--shortlist", flags->shortlist, whole_number(1, 100'000),
             "How many of the model's proposals a pick may come from (5)")
      ->type_name("N");
  on_parsed(*command, session, flags, report);
}

}  // namespace overlaptune::cli
