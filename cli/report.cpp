// overlaptune report: prints everything in a database, for people or for programs.

#include "reports/report.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/command.hpp"
#include "cli/flags/problem_flags.hpp"
#include "core/base/text.hpp"
#include "db/rules.hpp"
#include "reports/comparison.hpp"
#include "reports/page/html_report.hpp"

namespace overlaptune::cli {
namespace {

struct ReportFlags {
  CommonFlags common{};
  std::string database{};
  std::string other{};
  std::string out{};
  std::optional<ReportFormat> format{};
  std::vector<Section> only{};
  std::optional<double> fail_if_slower{};  ///< a fraction
  bool allow_missing = false;
  bool anonymous = false;
  int shortlist = ReportOptions{}.shortlist;
};

ReportFormat format_of(const ReportFlags& flags) {
  if (!flags.common.json) return flags.format.value_or(ReportFormat::markdown);
  if (flags.format.value_or(ReportFormat::json) != ReportFormat::json) {
    refuse("--format {} and --json: give one of them", to_string(*flags.format));
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
                      .version = build(),
                      .database = flags.anonymous ? "a database" : file_name(flags.database),
                      .compared = flags.anonymous ? "another one" : file_name(flags.other),
                      .made_at = db::utc_now()});
}

/// Whether `--out` names a folder.
bool names_folder(const std::string& out) {
  std::error_code failure;
  return out.ends_with('/') || std::filesystem::is_directory(out, failure);
}

/// Writes each table to a file of its own: FOLDER/winners.csv, …
void write_tables(const std::string& folder, const std::vector<Table>& tables) {
  std::error_code failure;
  std::filesystem::create_directories(folder, failure);
  if (failure) {
    throw Failure(ErrorKind::cannot_write,
                  fmt::format("{}: cannot be made: {}", folder, failure.message()));
  }
  for (const Table& table : tables) {
    write_file(std::filesystem::path(folder) / (table.name + ".csv"), to_csv(table));
  }
}

/// "gemm_all_reduce:… on sim:h200-nvlink-x8", with the other platform where it has another name.
std::string described(const ComparedWinner& row) {
  const Winner& winner = row.here ? *row.here : *row.there;
  const std::string& platform = row.here ? row.platform_here : row.platform_there;
  const bool differs = row.here && row.there && row.platform_there != row.platform_here;
  return fmt::format("{} on {}{}", to_string(winner.candidate.problem), platform,
                     differs ? " beside " + row.platform_there : "");
}

/// Throws `Failure` (`nothing_validated`) where operations of the baseline have no time to compare
/// with; a warning where `--allow-missing` lets them pass.
void check_missing(const ReportFlags& flags, const Comparison& comparison) {
  const auto missing = missing_here(comparison);
  if (missing.empty()) return;
  const std::string message = fmt::format(
      "{} of {} operations of {} could not be compared: {} has no time for them; the first is {}",
      missing.size(), missing.size() + compared(comparison).size(), flags.other, flags.database,
      described(*missing.front()));
  if (!flags.allow_missing) {
    throw Failure(ErrorKind::nothing_validated,
                  message + ": tune them, or let them pass with --allow-missing");
  }
  spdlog::warn(message);
}

/// Throws `Failure` (`nothing_validated`) where an operation is slower than `--fail-if-slower`
/// allows, or could not be compared.
void check_slower(const ReportFlags& flags, const Snapshot& here, const Snapshot& there) {
  const Comparison comparison = compare(here, there);
  const std::size_t both = compared(comparison).size();
  if (both == 0) {
    refuse("--fail-if-slower: {} and {} have no operation in common", flags.database, flags.other);
  }
  const auto slower = slower_by(comparison, *flags.fail_if_slower);
  if (slower.empty()) return check_missing(flags, comparison);
  const ComparedWinner& worst = *slower.front();
  throw Failure(
      ErrorKind::nothing_validated,
      fmt::format("{} of {} operations are slower than in {} by more than the noise and "
                  "{:g} %; the slowest is {}: {:+.1f} %; {} could not be compared",
                  slower.size(), both, flags.other, 100 * *flags.fail_if_slower, described(worst),
                  100 * *relative_change(worst), missing_here(comparison).size()));
}

int report(const ReportFlags& flags, const Session& /*session*/) {
  const ReportFormat format = format_of(flags);
  if (format == ReportFormat::html && !flags.only.empty()) {
    refuse("--only: expected with md, csv or json; html has all");
  }
  if (flags.fail_if_slower && flags.other.empty()) {
    refuse("--fail-if-slower: expected beside --compare FILE");
  }
  if (flags.allow_missing && !flags.fail_if_slower) {
    refuse("--allow-missing: expected beside --fail-if-slower");
  }
  const auto& only = flags.only;
  if (std::find(only.begin(), only.end(), Section::comparison) != only.end() &&
      flags.other.empty()) {
    refuse("--only comparison: expected beside --compare FILE");
  }
  Snapshot snapshot = take_snapshot(Store(flags.database, Access::read));
  std::optional<Snapshot> other;
  if (!flags.other.empty()) other = take_snapshot(Store(flags.other, Access::read));
  if (flags.anonymous) {
    make_anonymous(snapshot);
    if (other) make_anonymous(*other);
  }
  if (snapshot.platforms.empty()) {
    refuse("--db {}: nothing is stored: run `overlaptune tune` into this database first",
           flags.database);
  }
  const ReportOptions options{.format = format, .shortlist = flags.shortlist, .only = flags.only};
  if (format == ReportFormat::html) {
    print_or_write(as_html(flags, snapshot, other), flags.out);
  } else if (format == ReportFormat::csv && names_folder(flags.out)) {
    write_tables(flags.out, report_tables(snapshot, other, options));
  } else if (format == ReportFormat::markdown && flags.out.empty()) {
    print(overlaptune::report(snapshot, other, options));
  } else {
    print_or_write(overlaptune::report(snapshot, other, options), flags.out);
  }
  if (flags.fail_if_slower) check_slower(flags, snapshot, *other);
  return kDone;
}

/// `3%` or `3`, as the fraction 0.03.
Expected<double> percent(const std::string& text) {
  const std::string digits = text.ends_with('%') ? text.substr(0, text.size() - 1) : text;
  const auto number = parsed<double>(digits);
  if (number && *number >= 0 && *number <= 1000) return *number / 100;
  return bad_input(fmt::format("'{}': expected a percentage from 0 to 1000: 3%", text));
}

}  // namespace

void add_report(CLI::App& root, Session& session) {
  const auto [command, flags] = add_command(
      root, session, "report", "Winners, speedups, prediction error, conditions and probe curves",
      "overlaptune report --db f.db --format html --out report.html --compare before.db", report);
  add_database_flag(command, flags.database);
  add_parsed(command, "--format FORMAT", flags.format, parse_name<ReportFormat>,
             "md (the default), csv, json, which --json asks for, too, or html: one page with "
             "figures that opens without a network");
  add_text(command, "--out FILE", flags.out,
           "File to write instead of standard output. With csv it may be a folder, which gets a "
           "file for each table; a folder to be made ends with /");
  add_parsed(
      command, "--only PARTS", flags.only, list_of(parse_name<Section>),
      "Parts of the report, separated by commas: winners, means, error, regret, phases, "
      "comparison, failures, conditions, peers, probes (all; md: all but phases and probes)");
  add_text(command, "--compare FILE", flags.other, "Database to tell the differences from");
  add_parsed(command, "--fail-if-slower PERCENT", flags.fail_if_slower, percent,
             "Beside --compare: exit with 5 where an operation is slower than there by more than "
             "this and by more than the noise, or where one that is there has no time here: 3%");
  command.add_flag("--allow-missing", flags.allow_missing,
                   "Beside --fail-if-slower: only warn of operations that have no time here");
  command.add_flag("--anonymous", flags.anonymous,
                   "Leave out names of hosts and files, and command lines");
  add_parsed(command, "--shortlist N", flags.shortlist, whole_number(1, 100'000),
             "How many of the model's proposals a pick may come from (5)");
}

}  // namespace overlaptune::cli
