// Taking rows away on purpose: old runs (`prune`), and what a person names (`remove`). Seals are of
// single rows, so those of the other rows stay right.

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "db/file/copy.hpp"
#include "db/impl.hpp"
#include "db/tallies.hpp"

namespace overlaptune {
namespace {

using db::Connection;

struct Run {
  std::int64_t id = 0;
  std::int64_t provenance = 0;  ///< runs are ordered by it, not by clocks
  RunBrief brief{};
};

/// Columns: id, provenance_id, uid, platform_id, started_at, finished, rows, winners, needed.
constexpr std::string_view kProbeRuns =
    "SELECT r.id, provenance_id, uid, platform_id, started_at, finished_at IS NOT NULL, "
    "(SELECT count(*) FROM measurements m WHERE m.run_id = r.id), 0, r.id IN (SELECT run_id FROM "
    "(SELECT run_id, row_number() OVER (PARTITION BY platform_id, probe ORDER BY provenance_id "
    "DESC) AS age FROM measurements m JOIN probe_runs o ON o.id = run_id) WHERE age = 1) FROM "
    "probe_runs r JOIN provenance p ON p.id = provenance_id";
constexpr std::string_view kTuningRuns =
    "SELECT r.id, provenance_id, uid, platform_id, started_at, finished_at IS NOT NULL, "
    "(SELECT count(*) FROM candidates c WHERE c.run_id = r.id), (SELECT count(*) FROM winners w "
    "WHERE w.run_id = r.id), r.id IN (SELECT run_id FROM winners) OR r.id IN (SELECT run_id FROM "
    "(SELECT run_id, row_number() OVER (PARTITION BY platform_id, problem_id, model, product, "
    "parallelism, tokens ORDER BY provenance_id DESC) AS age FROM layer_gemms g JOIN tuning_runs o "
    "ON o.id = run_id) WHERE age = 1) FROM tuning_runs r JOIN provenance p ON p.id = provenance_id";

/// The probe runs, and behind them the tuning runs, each the oldest first.
std::vector<Run> all_runs(Connection& connection) {
  std::vector<Run> list;
  for (const bool tuning : {false, true}) {
    auto query = connection.query(std::string(tuning ? kTuningRuns : kProbeRuns));
    while (query.step()) {
      Run& run = list.emplace_back();
      RunBrief& brief = run.brief;
      brief.tuning = tuning;
      query.read(run.id, run.provenance, brief.uid, brief.platform, brief.started_at,
                 brief.finished, brief.rows, brief.winners, brief.needed);
    }
  }
  std::ranges::sort(list, {},
                    [](const Run& run) { return std::pair(run.brief.tuning, run.provenance); });
  return list;
}

void remove_where(Connection& connection, const char* table, const char* column, std::int64_t id) {
  connection.query(fmt::format("DELETE FROM {} WHERE {} = ?", table, column)).bind(id).run();
}

/// Removes a run with its rows. The order is that of the references.
void remove_run(Connection& connection, const Run& run) {
  for (const char* table : {"winners", "layer_gemms", "phase_results", "candidates"}) {
    if (run.brief.tuning) remove_where(connection, table, "run_id", run.id);
  }
  if (!run.brief.tuning) remove_where(connection, "measurements", "run_id", run.id);
  remove_where(connection, run.brief.tuning ? "tuning_runs" : "probe_runs", "id", run.id);
  remove_where(connection, "provenance", "id", run.provenance);
}

bool has_problem(Connection& connection, const Problem& problem) {
  auto query = connection.query(
      fmt::format("SELECT 1 FROM problems WHERE ({}) = (?, ?, ?, ?, ?, ?)", db::kProblemColumns));
  db::put(query, problem);
  return query.step();
}

void remove_problem(Connection& connection, const Problem& problem) {
  const auto run = [&](const std::string& sql) {
    auto query = connection.query(sql);
    db::put(query, problem);
    query.run();
  };
  run(fmt::format("DELETE FROM winners WHERE ({}) = (?, ?, ?, ?, ?, ?)", db::kProblemColumns));
  for (const char* table : {"layer_gemms", "phase_results", "candidates"}) {
    run(
        fmt::format("DELETE FROM {} WHERE problem_id IN (SELECT id FROM problems WHERE ({}) = (?, "
                    "?, ?, ?, ?, ?))",
                    table, db::kProblemColumns));
  }
}

void remove_platform(Connection& connection, const std::vector<Run>& runs, PlatformId platform) {
  remove_where(connection, "winners", "platform_id", platform);
  remove_where(connection, "fits", "platform_id", platform);
  for (const Run& run : runs) {
    if (run.brief.platform == platform) remove_run(connection, run);
  }
  remove_where(connection, "platforms", "id", platform);
}

void remove_problems_without_rows(Connection& connection) {
  connection.execute(
      "DELETE FROM problems WHERE id NOT IN (SELECT problem_id FROM candidates) AND id NOT IN "
      "(SELECT problem_id FROM layer_gemms) AND id NOT IN (SELECT problem_id FROM phase_results)");
}

/// Whether a run is older than the newest `keep` of its kind and platform. `runs` begins with the
/// oldest.
bool is_behind(const std::vector<Run>& runs, const Run& run, int keep) {
  const auto newer = std::count_if(runs.begin(), runs.end(), [&](const Run& other) {
    return other.brief.tuning == run.brief.tuning && other.brief.platform == run.brief.platform &&
           &other > &run;
  });
  return newer >= keep;
}

/// Gives the space of removed rows back to the file system. While other processes read, or on a
/// full disk, it cannot; later rows then use the space.
void shrink(Connection& connection) {
  try {
    connection.execute("VACUUM");
  } catch (const Failure&) {
  }
}

/// Runs `remove` and keeps the tallies. A row that was missing before stays missed.
template <class F>
void remove_with_tallies(Connection& connection, const F& remove) {
  std::vector<db::Tally> before;
  before.reserve(db::kTalliedTables.size());
  for (const auto table : db::kTalliedTables) before.push_back(db::count_rows(connection, table));
  remove();
  for (std::size_t i = 0; i < before.size(); ++i) {
    const auto table = db::kTalliedTables.at(i);
    db::add_to_tally(connection, table, db::count_rows(connection, table) - before[i]);
  }
}

Expected<Run> named_run(const std::vector<Run>& runs, const std::string& uid) {
  std::vector<const Run*> fitting;
  for (const Run& run : runs) {
    if (run.brief.uid.starts_with(uid)) fitting.push_back(&run);
  }
  if (fitting.size() == 1) return *fitting.front();
  return bad_input(fmt::format("run '{}': {}; `overlaptune db info` lists the runs", uid,
                               fitting.empty() ? "not stored" : "several begin with this"));
}

}  // namespace

std::vector<RunBrief> Store::runs() const {
  std::vector<RunBrief> list;
  for (Run& run : all_runs(*impl_->connection)) list.push_back(std::move(run.brief));
  return list;
}

std::vector<RunBrief> Store::prune(const PruneRule& rule) {
  Connection& connection = *impl_->connection;
  std::vector<RunBrief> gone;
  connection.write([&] {
    const auto runs = all_runs(connection);
    remove_with_tallies(connection, [&] {
      for (const Run& run : runs) {
        if (run.brief.needed || (rule.before && run.brief.started_at >= *rule.before) ||
            (rule.keep && !is_behind(runs, run, *rule.keep))) {
          continue;
        }
        remove_run(connection, run);
        gone.push_back(run.brief);
      }
      remove_problems_without_rows(connection);
    });
  });
  if (!gone.empty()) shrink(connection);
  return gone;
}

Expected<Removal> Store::remove(const RemovalChoice& choice) {
  Connection& connection = *impl_->connection;
  Removal done;
  std::optional<Error> wrong;
  connection.write([&] {
    const auto runs = all_runs(connection);
    const DatabaseInfo before = info();
    const auto named = choice.run.empty() ? Expected<Run>(Run{}) : named_run(runs, choice.run);
    if (!named) wrong = named.error();
    if (choice.problem && !has_problem(connection, *choice.problem)) {
      wrong = Error{ErrorKind::bad_input,
                    fmt::format("problem {}: not stored", to_string(*choice.problem))};
    }
    if (wrong) return;
    if (const std::string place = db::place_of(connection); !place.empty()) {
      // This connection holds the lock, so that nothing is written between the copy and the
      // removal; SQLite copies by one that does not write.
      Connection reader(connection.file(), place, SQLite::OPEN_READONLY);
      done.copy = db::copy_beside(reader, "before-delete");
    }
    remove_with_tallies(connection, [&] {
      if (!choice.run.empty()) remove_run(connection, *named);
      if (choice.problem) remove_problem(connection, *choice.problem);
      if (choice.platform) remove_platform(connection, runs, *choice.platform);
      remove_problems_without_rows(connection);
    });
    const DatabaseInfo after = info();
    for (const auto& [table, rows] : kCountedTables) {
      if (after.*rows == before.*rows) continue;
      done.actions.push_back(
          fmt::format("{}: {} removed, {} left", table, before.*rows - after.*rows, after.*rows));
    }
  });
  if (wrong) return tl::make_unexpected(*wrong);
  shrink(connection);
  return done;
}

Store Store::in_memory() const {
  Connection& connection = *impl_->connection;
  Store copy(std::make_unique<Impl>(
      db::open_memory(connection.integer("PRAGMA page_size"))));  // SQLite copies only equal pages
  db::copy_pages(connection, *copy.impl_->connection, connection);
  return copy;
}

}  // namespace overlaptune
