// overlaptune report: everything in a database, for people or for programs.

#include "reports/report.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/problem_flags.hpp"

namespace overlaptune::cli {
namespace {

struct Flags {
  CommonFlags common{};
  std::string database{};
  std::string other{};
  std::string out{};
  ReportOptions options{};
};

int report(const Flags& flags, const Session& /*session*/) {
  const Snapshot snapshot = take_snapshot(Store(flags.database, Access::read));
  std::optional<Snapshot> other;
  if (!flags.other.empty()) other = take_snapshot(Store(flags.other, Access::read));
  if (snapshot.platforms.empty()) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("--db {}: nothing is stored: run `overlaptune tune` into this "
                              "database first",
                              flags.database));
  }
  ReportOptions options = flags.options;
  if (flags.common.json) options.format = ReportFormat::json;
  const std::string text = overlaptune::report(snapshot, other, options);
  if (flags.out.empty()) {
    print(text);
  } else {
    write_file(flags.out, text);
  }
  return kDone;
}

}  // namespace

void add_report(CLI::App& root, Session& session) {
  auto flags = std::make_shared<Flags>();
  CLI::App* command = add_command(
      root, "report", "Winners, speedups, prediction error, conditions and probe curves",
      "overlaptune report --db f.db --format md --out report.md --compare before.db",
      flags->common);
  add_database_flag(*command, flags->database);
  add_parsed(*command, "--format", flags->options.format, parse_name<ReportFormat>,
             "md (the default), csv or json")
      ->type_name("FORMAT");
  command->add_option("--out", flags->out, "File to write instead of standard output")
      ->type_name("FILE");
  command->add_option("--compare", flags->other, "Database to tell the differences from")
      ->type_name("FILE");
  add_parsed(*command, "--shortlist", flags->options.shortlist, whole_number(1, 100'000),
             "How many of the model's proposals a pick may come from (5)")
      ->type_name("N");
  on_parsed(*command, session, flags, report);
}

}  // namespace overlaptune::cli
