// overlaptune db: shows what is in a database, checks, copies and merges databases.

#include <filesystem>
#include <sstream>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/command.hpp"
#include "cli/db_removal.hpp"
#include "cli/flags/problem_flags.hpp"
#include "core/base/printable.hpp"
#include "core/base/text_file.hpp"
#include "query/stored_fit.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {
namespace {

constexpr std::size_t kMostExportBytes = std::size_t{1} << 32;

struct DbFlags {
  CommonFlags common{};
  std::string database{};
  std::string out{};
  std::vector<std::string> others{};
};

OrderedJson json_of(const DatabaseInfo& info) {
  return {{"schema_version", info.schema_version},
          {"platforms", info.platforms},
          {"probe_runs", info.probe_runs},
          {"measurements", info.measurements},
          {"problems", info.problems},
          {"tuning_runs", info.tuning_runs},
          {"candidates", info.candidates},
          {"winners", info.winners},
          {"layer_gemms", info.layer_gemms},
          {"phase_results", info.phase_results}};
}

Table runs_table(const Store& store) {
  Table table{.name = "runs",
              .columns = columns_of("run, kind, platform, started_at, finished, rows, winners")};
  const auto platforms = store.platforms();
  for (const RunBrief& run : store.runs()) {
    table.rows.push_back({run.uid, std::string(run.tuning ? "tuning" : "probe"),
                          name_among(platforms, run.platform), run.started_at,
                          std::string(run.finished ? "yes" : "no"), run.rows, run.winners});
  }
  return table;
}

int info(const DbFlags& flags, const Session& /*session*/) {
  const Store store(flags.database, Access::read);
  OrderedJson document{{"database", flags.database}};
  document.update(json_of(store.info()));
  Table platforms{
      .name = "platforms",
      .columns = columns_of("name, machine, fingerprint, gpu_model, gpu_count, full_name")};
  for (const StoredPlatform& stored : store.platforms()) {
    const Platform& platform = stored.platform;
    platforms.rows.push_back({platform.name, platform.machine, fingerprint(platform),
                              platform.gpu_model, cell(platform.gpu_count), full_name(platform)});
  }
  const Table runs = runs_table(store);
  if (flags.common.json) {
    document["stored_platforms"] = to_json_rows(platforms);
    document["stored_runs"] = to_json_rows(runs);
    print_json(document);
    return kDone;
  }
  std::string text;
  for (const auto& [name, value] : document.items()) {
    text += fmt::format("{:15} {}\n", name,
                        value.is_string() ? value.get<std::string>() : value.dump());
  }
  print(text + "\n" + to_markdown(platforms) + (runs.rows.empty() ? "" : "\n" + to_markdown(runs)));
  return kDone;
}

int check(const DbFlags& flags, const Session& /*session*/) {
  const Store store(flags.database, Access::read);
  auto wrong = store.check();
  if (wrong.empty()) wrong = fit_faults(store);
  if (flags.common.json) {
    print_json(
        OrderedJson{{"database", flags.database}, {"sound", wrong.empty()}, {"problems", wrong}});
  } else if (wrong.empty()) {
    print(fmt::format("{}: sound\n", flags.database));
  } else {
    for (const std::string& line : wrong) spdlog::error("{}: {}", flags.database, line);
  }
  return wrong.empty() ? kDone : static_cast<int>(ErrorKind::bad_database);
}

int repair(const DbFlags& flags, const Session& /*session*/) {
  Store store(flags.database, Access::write);
  const auto done = store.repair();
  const auto left = store.check();
  if (flags.common.json) {
    print_json({{"database", flags.database},
                {"sound", left.empty()},
                {"copy", done.copy.string()},
                {"actions", done.actions},
                {"problems", left}});
  } else if (done.copy.empty()) {
    print(fmt::format("{}: sound, nothing to repair\n", flags.database));
  } else {
    std::string text =
        fmt::format("{}: as it was before: {}\n", flags.database, done.copy.string());
    for (const std::string& action : done.actions) text += printable(action) + "\n";
    print(text + fmt::format("{}: {}\n", flags.database, left.empty() ? "sound" : "not sound"));
  }
  for (const std::string& line : left) spdlog::error("{}: {}", flags.database, line);
  return left.empty() ? kDone : static_cast<int>(ErrorKind::bad_database);
}

int export_database(const DbFlags& flags, const Session& /*session*/) {
  std::ostringstream text;
  export_json(Store(flags.database, Access::read), text);
  print_or_write(text.str(), flags.out);
  return kDone;
}

/// Creates and fills a database, and removes it again if `fill` throws.
template <class Fill>
void create_and_fill(const std::string& file, Fill fill) {
  std::error_code unknown;
  const bool is_new = !std::filesystem::exists(file, unknown) && !unknown;
  try {
    Store store(file, Access::create);
    fill(store);
  } catch (...) {
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm"}) {
      if (is_new) std::filesystem::remove(file + suffix, ignored);
    }
    throw;
  }
}

void warn(const std::string& file, const std::vector<std::string>& complaints) {
  for (const std::string& complaint : complaints) spdlog::warn("{}: {}", file, complaint);
}

int import_database(const DbFlags& flags, const Session& /*session*/) {
  const std::string& name = flags.others.front();
  if (is_database(name)) {
    refuse(
        "{}: is a database, not what `overlaptune db export` wrote; `overlaptune db merge` takes "
        "databases",
        name);
  }
  // Read before a database is made.
  std::istringstream in(value_or_throw(read_text_file(name, kMostExportBytes)));
  create_and_fill(flags.database, [&](Store& store) {
    const auto done = import_json(store, in);
    if (!done) throw Failure(done.error().kind, fmt::format("{}: {}", name, done.error().message));
    warn(name, *done);
    store_fits(store);
  });
  return info(flags, {});
}

int merge(const DbFlags& flags, const Session& /*session*/) {
  std::vector<Store> others;  // all are opened, and so checked, before anything is written
  for (const std::string& file : flags.others) others.emplace_back(file, Access::read);
  create_and_fill(flags.database, [&](Store& store) {
    for (std::size_t i = 0; i < others.size(); ++i) warn(flags.others[i], store.merge(others[i]));
    store_fits(store);
  });
  return info(flags, {});
}

}  // namespace

void add_db(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("db", "Look at, check, copy, merge and prune databases");
  group->require_subcommand(1);
  group->footer("Example:\n  overlaptune db info --db f.db");
  const auto add = [&](const std::string& name, const std::string& description,
                       const std::string& example, int (*run)(const DbFlags&, const Session&)) {
    const auto added = add_command(*group, session, name, description, example, run);
    add_database_flag(added.app, added.flags.database);
    return added;
  };
  add("info", "What is in a database", "overlaptune db info --db f.db --json", info);
  add("check", "Whether a database is sound (exit code 4 if not)", "overlaptune db check --db f.db",
      check);
  add("repair", "Keep what is sound, rebuild winners from sound candidates; a copy stays beside it",
      "overlaptune db repair --db f.db", repair);
  const auto [exporting, export_flags] =
      add("export", "Write everything as one JSON document",
          "overlaptune db export --db f.db --out f.json", export_database);
  add_text(exporting, "--out FILE", export_flags.out, "File instead of standard output");
  const auto [importing, import_flags] =
      add("import", "Read what `export` wrote into a new or existing database",
          "overlaptune db import --db f.db f.json", import_database);
  importing.add_option("file", import_flags.others, "What `export` wrote")
      ->type_name("FILE")
      ->required()
      ->expected(1);
  const auto [merging, merge_flags] =
      add("merge", "Add the rows of other databases; of two winners the newer stays",
          "overlaptune db merge --db f.db node1.db node2.db", merge);
  merging.add_option("databases", merge_flags.others, "Databases to read from")
      ->type_name("FILE")
      ->required();
  add_db_removal(*group, session);
}

}  // namespace overlaptune::cli
