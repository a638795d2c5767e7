// overlaptune db prune and db delete: take away what is no longer wanted.

#include "cli/db_removal.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cli/flags/problem_flags.hpp"
#include "db/rules.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {
namespace {

constexpr int kMostRuns = 1'000'000;

struct PruneFlags {
  CommonFlags common{};
  std::string database{};
  PruneRule rule{};
  bool dry_run = false;
};

struct DeleteFlags {
  CommonFlags common{};
  std::string database{};
  std::string platform{};
  std::string run{};
  std::optional<Problem> problem{};
  bool yes = false;
};

/// `2026-11-01`, or a time as the database has it. Error: it is neither.
Expected<std::optional<std::string>> parse_time(const std::string& text) {
  const bool is_date = text.find('T') == std::string::npos;
  if (db::time_complaint("time", is_date ? text + "T00:00:00.000Z" : text)) {
    return bad_input(fmt::format("'{}': expected a date in UTC, as in 2026-11-01", text));
  }
  return std::optional(text);
}

int prune(const PruneFlags& flags, const Session& /*session*/) {
  if (!flags.rule.before && !flags.rule.keep) {
    refuse("db prune: expected --before DATE or --keep N: which runs may go");
  }
  Store store(flags.database, flags.dry_run ? Access::read : Access::write);
  const auto platforms = store.platforms();
  const auto gone = flags.dry_run ? store.in_memory().prune(flags.rule) : store.prune(flags.rule);
  Table table{.name = "removed", .columns = columns_of("run, kind, platform, started_at, rows")};
  for (const RunBrief& run : gone) {
    table.rows.push_back({run.uid, std::string(run.tuning ? "tuning" : "probe"),
                          name_among(platforms, run.platform), run.started_at, run.rows});
  }
  const auto left =
      static_cast<std::int64_t>(store.runs().size()) - (flags.dry_run ? std::ssize(gone) : 0);
  return print_either(
      flags.common,
      {{"database", flags.database},
       {"dry_run", flags.dry_run},
       {"removed", to_json_rows(table)},
       {"runs_left", left}},
      fmt::format("{}{}: {} runs {}, {} {}\n", gone.empty() ? "" : to_markdown(table) + "\n",
                  flags.database, gone.size(), flags.dry_run ? "would go" : "removed", left,
                  flags.dry_run ? "would stay" : "left"));
}

RemovalChoice choice_of(const DeleteFlags& flags, const Store& store) {
  RemovalChoice choice{.run = flags.run, .problem = flags.problem};
  if (!flags.platform.empty()) choice.platform = value_or_throw(store.platform(flags.platform)).id;
  return choice;
}

int remove(const DeleteFlags& flags, const Session& /*session*/) {
  const int ways =
      (flags.platform.empty() ? 0 : 1) + (flags.run.empty() ? 0 : 1) + (flags.problem ? 1 : 0);
  if (ways != 1) {
    refuse(
        "db delete: expected one of --platform NAME, --run UID and --problem OP:M,N,K:dtype:ranks");
  }
  if (!flags.yes) {
    const Store store(flags.database, Access::read);
    const auto would = value_or_throw(store.in_memory().remove(choice_of(flags, store)));
    refuse("{}: nothing is removed without --yes; with it: {}", flags.database,
           fmt::join(would.actions, "; "));
  }
  Store store(flags.database, Access::write);
  const auto done = value_or_throw(store.remove(choice_of(flags, store)));
  return print_either(
      flags.common,
      {{"database", flags.database}, {"copy", done.copy.string()}, {"actions", done.actions}},
      fmt::format("{}: as it was before: {}\n{}\n", flags.database, done.copy.string(),
                  fmt::join(done.actions, "\n")));
}

}  // namespace

std::string name_among(const std::vector<StoredPlatform>& platforms, PlatformId id) {
  for (const StoredPlatform& stored : platforms) {
    if (stored.id == id) return full_name(stored.platform);
  }
  return "?";
}

void add_db_removal(CLI::App& group, Session& session) {
  const auto [prune_command, pruning] = add_command(
      group, session, "prune",
      "Remove runs that are old. Those that a winner, the newest measurement of a probe "
      "or a product of a model comes from stay",
      "overlaptune db prune --db f.db --keep 3 --dry-run", prune);
  add_database_flag(prune_command, pruning.database);
  add_parsed(prune_command, "--before DATE", pruning.rule.before, parse_time,
             "Runs that started before this day (UTC)");
  add_parsed(prune_command, "--keep N", pruning.rule.keep, whole_number(0, kMostRuns),
             "All but the newest N probe runs and N tuning runs of each platform");
  prune_command.add_flag("--dry-run", pruning.dry_run, "Say what would go, and change nothing");

  const auto [delete_command, deleting] =
      add_command(group, session, "delete",
                  "Remove a platform, a run or a problem; a copy stays beside the database",
                  "overlaptune db delete --db f.db --platform sim:h200-nvlink-x8 --yes", remove);
  add_database_flag(delete_command, deleting.database);
  add_text(delete_command, "--platform NAME", deleting.platform, "A platform with all its results");
  add_text(delete_command, "--run UID", deleting.run,
           "A run with its measurements, or its candidates and winners; the first digits of its "
           "uid are enough (`db info` lists them)");
  add_parsed(delete_command, "--problem OP:M,N,K:dtype:ranks", deleting.problem, parse_problem,
             "A problem with its candidates and winners on all platforms");
  delete_command.add_flag("--yes", deleting.yes,
                          "Do it; without this flag the command only says what would go");
}

}  // namespace overlaptune::cli
