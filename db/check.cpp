// `Store::check`: every fault of a database that SQLite or our own rules find.

#include <fmt/format.h>

#include "db/file/file_header.hpp"
#include "db/impl.hpp"
#include "db/tallies.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kMostFindings = 100;

class Examination {
 public:
  explicit Examination(db::Connection& connection) : connection_(connection) {}

  void add(std::string finding) {
    if (findings_.size() < kMostFindings) findings_.push_back(std::move(finding));
  }

  /// Runs the query and reads each row. A row that cannot be read is a finding. If the query cannot
  /// go on, that is the last finding of its kind.
  template <class F>
  void rows(const std::string& sql, F&& read) {
    collect([&] {
      auto query = connection_.query(sql);
      while (findings_.size() < kMostFindings && query.step()) collect([&] { read(query); });
    });
  }

  /// Runs `look`; its failure is a finding.
  template <class F>
  void collect(F&& look) {
    try {
      look();
    } catch (const Failure& failure) {
      add(failure.what());
    }
  }

  [[nodiscard]] std::vector<std::string> findings() && { return std::move(findings_); }

 private:
  db::Connection& connection_;
  std::vector<std::string> findings_;
};

void check_structure(Examination& examine) {
  // This also verifies types, NOT NULL, UNIQUE and (if the file may be written) CHECK of every row.
  examine.rows("PRAGMA integrity_check", [&](db::Query& query) {
    auto finding = query.text();
    if (finding != "ok") examine.add(std::move(finding));
  });
  examine.rows("PRAGMA foreign_key_check", [&](db::Query& query) {
    const std::string table = query.text();
    query.skip(1);
    examine.add(fmt::format("a row of table {} refers to nothing in {}", table, query.text()));
  });
}

void check_platforms(Examination& examine) {
  examine.rows(
      fmt::format("SELECT id, fingerprint, {} FROM platforms", db::platform_columns()),
      [&](db::Query& query) {
        const auto id = query.integer();
        const std::string stored = query.text();
        const Platform platform = db::read_platform(query);
        if (stored == fingerprint(platform)) return;
        examine.add(fmt::format("platform {} ({}): its fields do not give its fingerprint {}", id,
                                platform.name, stored));
      });
}

void check_run(Examination& examine, const StoredRun& run) {
  auto wrong = complaint(run);
  if (!wrong) wrong = db::ahead_complaint("started_at", run.provenance.started_at);
  if (wrong) examine.add(fmt::format("run {}: {}", run.uid.substr(0, 40), *wrong));
}

void check_measurements(Examination& examine) {
  examine.rows(fmt::format("SELECT id, probe, {} FROM measurements",
                           db::join({db::kProbeColumns, db::kMeasuredColumns})),
               [&](db::Query& query) {
                 const auto id = query.integer();
                 const std::string stored = query.text();
                 if (stored == to_string(db::read_measurement(query).probe)) return;
                 examine.add(fmt::format("measurement {}: its columns do not give its probe '{}'",
                                         id, stored));
               });
}

void check_candidates(Examination& examine) {
  examine.rows(
      fmt::format(
          "SELECT {}, launch, config, verdict, {}, {} FROM candidates c JOIN problems p ON p.id = "
          "problem_id",
          db::kProblemColumns, db::kOutcomeColumns, db::sealed(db::candidate_seal())),
      [](db::Query& query) { (void)db::read_candidate(query); });
}

void check_winners(Examination& examine, const Store::Impl& impl) {
  examine.rows(
      fmt::format("SELECT run_id, validated_at, (SELECT r.platform_id FROM tuning_runs r WHERE "
                  "r.id = run_id) IS "
                  "platform_id, {}, launch, config, {}, {}, {} FROM winners w",
                  db::kProblemColumns, db::kOutcomeColumns, db::kComparisonColumns,
                  db::sealed(db::winner_seal())),
      [&](db::Query& query) {
        const TuningRunId run = query.integer();
        const std::string validated_at = query.text();
        if (const auto wrong = db::time_complaint("validated_at", validated_at)) {
          query.damaged(*wrong);
        }
        const bool of_its_platform = query.integer() == 1;
        const Candidate candidate = db::read_winner(query).candidate;
        const std::string problem = to_string(candidate.problem);
        if (!impl.has_candidate_like(run, candidate)) {
          examine.add(fmt::format("winner of {}: its run has no candidate like it", problem));
        }
        if (!of_its_platform) {
          examine.add(fmt::format("winner of {}: its run was on another platform", problem));
        }
        if (const auto wrong = db::ahead_complaint("validated_at", validated_at)) {
          examine.add(fmt::format("winner of {}: {}", problem, *wrong));
        }
      });
}

/// Whether the winners are those of their tally.
bool has_its_winners(db::Connection& connection) {
  bool agree = false;
  try {
    connection.read([&] {
      agree = db::count_rows(connection, "winners") == db::stored_tally(connection, "winners");
    });
  } catch (const Failure& failure) {
    if (failure.kind() != ErrorKind::bad_database) throw;
  }
  return agree;
}

}  // namespace

std::vector<std::string> Store::check() const {
  Examination examine(*impl_->connection);
  check_structure(examine);
  check_platforms(examine);
  for (const RunKind kind : {RunKind::probe, RunKind::tuning}) {
    examine.collect(
        [&] { impl_->each_run(kind, [&](const StoredRun& run) { check_run(examine, run); }); });
  }
  check_measurements(examine);
  examine.rows(db::select_layer_gemms(),
               [](db::Query& query) { (void)db::read_layer_gemm(query); });
  examine.rows(db::select_phase_results(),
               [](db::Query& query) { (void)db::read_phase_result(query); });
  check_candidates(examine);
  check_winners(examine, *impl_);
  const auto add = [&](std::string fault) { examine.add(std::move(fault)); };
  examine.collect([&] { impl_->check_fits(add); });
  // Rows that are gone, or of an older state.
  examine.collect([&] {
    for (std::string& fault : db::tally_faults(*impl_->connection)) add(std::move(fault));
  });
  return std::move(examine).findings();
}

std::optional<std::string> Store::log_fault() const {
  db::Connection& connection = *impl_->connection;
  if (!db::has_log(connection.file()) || has_its_winners(connection)) return std::nullopt;
  // A file that lacks winners by itself has lost them; the log is not to blame.
  if (!has_its_winners(*db::open_without_log(connection.file()))) return std::nullopt;
  return fmt::format(
      "with '{0}-wal' its winners are not those that were stored, without it they are: the log is "
      "of another state; restore a copy and remove '{0}-wal' and '{0}-shm'",
      connection.file().string());
}

}  // namespace overlaptune
