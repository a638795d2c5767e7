// `Store::repair`: the sound rows of a damaged database become a new one in memory, which then
// takes the place of the old content in one transaction. What SQLite itself keeps, pages and
// indexes, is made anew with it.

#include <algorithm>
#include <map>
#include <tuple>

#include <fmt/format.h>

#include "db/file/copy.hpp"
#include "db/impl.hpp"

namespace overlaptune {

using db::Conflict;

namespace {

using Actions = std::vector<std::string>;

/// The candidates of one platform, problem and launch, by the run that they were tried in.
using Key = std::tuple<PlatformId, Problem, Launch>;
using ByRun = std::map<TuningRunId, std::vector<Candidate>>;

/// The winner among the candidates of a run; none where there is nothing to compare it with.
std::optional<Winner> winner_of(const std::vector<Candidate>& candidates) {
  const auto baseline =
      std::find_if(candidates.begin(), candidates.end(), [](const Candidate& each) {
        return each.origin == Origin::baseline && each.verdict == Verdict::valid && each.measured;
      });
  if (baseline == candidates.end()) return std::nullopt;
  const Candidate& best = *fastest(candidates);
  Winner winner{.candidate = best, .sequential = baseline->measured->median};
  if (best.speedup) winner.sequential = best.measured->median * best.speedup->median;
  return winner;
}

/// Takes out the candidates that a second run has ruled out.
void leave_out_losers(Store::Impl& repaired, TuningRunId run, std::vector<Candidate>& candidates) {
  repaired.each_phase_result(run, [&](const PhaseResult& result) {
    if (!rules_out(result)) return;
    std::erase_if(candidates, [&](const Candidate& each) {
      return each.origin != Origin::baseline && each.problem == result.problem &&
             each.launch == result.launch && each.config == result.config;
    });
  });
}

/// Gives each problem with sound candidates and without a winner its best candidate.
void rebuild_winners(Store::Impl& repaired, Actions& actions) {
  std::map<TuningRunId, std::string> started_at;
  repaired.each_run(RunKind::tuning,
                    [&](const StoredRun& run) { started_at[run.id] = run.provenance.started_at; });
  std::map<Key, ByRun> all;
  repaired.each_candidate([&](const StoredCandidate& stored) {
    const Candidate& candidate = stored.candidate;
    all[{stored.platform, candidate.problem, candidate.launch}][stored.run].push_back(candidate);
  });
  repaired.each_winner([&](const StoredWinner& stored) {
    const Candidate& candidate = stored.winner.candidate;
    all.erase({stored.platform, candidate.problem, candidate.launch});
  });
  for (auto& [key, runs] : all) {
    for (auto& [run, candidates] : runs) {
      leave_out_losers(repaired, run, candidates);
      const auto winner = winner_of(candidates);
      if (!winner) continue;
      // The candidate was measured after its run began. A winner of another node that was not
      // damaged is newer, and wins a merge.
      const StoredWinner stored{std::get<PlatformId>(key), run, started_at.at(run), *winner};
      if (db::complaint(*winner)) continue;
      repaired.insert_winner(stored, Conflict::keep);
      actions.push_back(fmt::format(
          "winner of {}, {}: rebuilt from its candidates: {}", to_string(std::get<Problem>(key)),
          to_string(std::get<Launch>(key)), to_string(winner->candidate.config)));
    }
  }
}

/// A row without the one that it refers to is not read at all: the counts tell of it.
void tell_what_is_less(const DatabaseInfo& before, const DatabaseInfo& after, Actions& actions) {
  for (const auto& [table, rows] : {std::pair{"platforms", &DatabaseInfo::platforms},
                                    std::pair{"probe_runs", &DatabaseInfo::probe_runs},
                                    std::pair{"measurements", &DatabaseInfo::measurements},
                                    std::pair{"tuning_runs", &DatabaseInfo::tuning_runs},
                                    std::pair{"candidates", &DatabaseInfo::candidates},
                                    std::pair{"winners", &DatabaseInfo::winners},
                                    std::pair{"layer_gemms", &DatabaseInfo::layer_gemms},
                                    std::pair{"phase_results", &DatabaseInfo::phase_results}}) {
    if (after.*rows == before.*rows) continue;
    actions.push_back(fmt::format("{}: {} rows, {} before", table, after.*rows, before.*rows));
  }
}

}  // namespace

Store::Repair Store::repair() {
  db::Connection& connection = *impl_->connection;
  Repair done;
  constexpr int kPatienceMs = 2'000;
  connection.database().setBusyTimeout(kPatienceMs);
  connection.execute("PRAGMA locking_mode = EXCLUSIVE");
  connection.write([] {});  // takes the lock, which is then kept
  if (check().empty()) return done;

  done.copy = db::copy_beside(connection, "before-repair");
  Store repaired(std::make_unique<Impl>(
      db::open_memory(connection.integer("PRAGMA page_size"))));  // SQLite copies only equal pages
  impl_->leave_out = [&](const DamagedRow& row) { done.actions.push_back(row.fault()); };
  repaired.merge(*this);
  impl_->leave_out = nullptr;
  const DatabaseInfo before = info();
  if (repaired.info().winners < before.winners) rebuild_winners(repaired.impl(), done.actions);
  tell_what_is_less(before, repaired.info(), done.actions);
  if (const auto fits = connection.integer("SELECT count(*) FROM fits"); fits > 0) {
    done.actions.push_back(
        fmt::format("fits: {} rows left out: they follow from the measurements", fits));
  }
  db::copy_pages(*repaired.impl_->connection, connection, connection);
  return done;
}

}  // namespace overlaptune
