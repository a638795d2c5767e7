// `Store::merge`: copies the rows that another database has and this one lacks, in one transaction.

#include <limits>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "db/impl.hpp"

namespace overlaptune {

using db::Conflict;

namespace {

/// Numbers the runs that a merge brings. They keep their order, and come before or behind all that
/// this file has of their kind and platform. The last run that both files have tells which: what
/// the other file has before it comes before, and what it has behind it comes behind where this
/// file has nothing newer. Where it does not tell, clocks do: runs come behind as soon as one of
/// them began after the last one here.
class Numbers {
 public:
  Numbers(db::Connection& ours, db::Connection& theirs)
      : ours_(ours),
        least_(ours.integer("SELECT min(0, coalesce(min(id), 0)) FROM provenance")),
        most_theirs_(theirs.integer("SELECT coalesce(max(id), 0) FROM provenance")) {
    find_common(theirs);
  }

  /// The number of a run whose platform is that of this file.
  [[nodiscard]] std::optional<std::int64_t> of(RunKind kind, const StoredRun& run) {
    if (!run.number) return std::nullopt;
    const std::pair key(kind, run.platform);
    if (!last_.contains(key)) last_[key] = last_of(kind, run.platform);
    std::optional<Last>& last = last_[key];
    const bool is_older = *run.number < common_theirs_;
    const bool is_newer =
        last && !is_older &&
        (last->number <= common_ours_ || run.provenance.started_at > last->started_at);
    if (is_newer) last.reset();  // from here on behind
    if (!last && !is_older) return std::nullopt;
    return least_ - 1 - (most_theirs_ - *run.number);
  }

 private:
  struct Last {
    std::int64_t number = 0;
    std::string started_at{};
  };

  void find_common(db::Connection& theirs) {
    auto runs = ours_.query("SELECT id, uid FROM provenance");
    while (runs.step()) {
      const std::int64_t here = runs.integer();
      auto there = theirs.query("SELECT id FROM provenance WHERE uid = ?");
      there.bind(runs.text());
      if (!there.step()) continue;
      const std::int64_t number = there.integer();
      if (number <= common_theirs_) continue;
      common_theirs_ = number;
      common_ours_ = here;
    }
  }

  [[nodiscard]] std::optional<Last> last_of(RunKind kind, PlatformId platform) {
    auto query = ours_.query(
        fmt::format("SELECT p.id, started_at FROM {} JOIN provenance p ON p.id = provenance_id "
                    "WHERE platform_id = ? ORDER BY p.id DESC LIMIT 1",
                    kind == RunKind::probe ? "probe_runs" : "tuning_runs"));
    query.bind(platform);
    if (!query.step()) return std::nullopt;
    const std::int64_t number = query.integer();
    return Last{number, query.text()};
  }

  static constexpr std::int64_t kNone = std::numeric_limits<std::int64_t>::min();
  db::Connection& ours_;
  std::int64_t least_;
  std::int64_t most_theirs_;
  std::int64_t common_theirs_ = kNone;  ///< number of the last run that both files have, there
  std::int64_t common_ours_ = kNone;    ///< and here
  std::map<std::pair<RunKind, PlatformId>, std::optional<Last>> last_{};
};

/// Gives a run what it can be stored with. Its measurements are worth more than its texts.
void mend(StoredRun& run) {
  constexpr const char* kUnknown = "1970-01-01T00:00:00.000Z";
  if (db::uid_complaint(run.uid)) run.uid.clear();  // it gets a new one
  run.provenance = db::cleaned(std::move(run.provenance));
  std::string& started_at = run.provenance.started_at;
  if (db::complaint(run.provenance)) started_at = kUnknown;
  if (db::ahead_complaint("started_at", started_at)) started_at = db::utc_now();
  if (complaint(run)) run.finished_at = started_at;
}

}  // namespace

// Ids differ between databases. A platform is recognized by its fingerprint, a run by the random
// uid of its provenance, and everything else by its place in a run.
std::vector<std::string> merge_rows(Store::Impl& ours, const Store::Impl& theirs) {
  std::map<std::int64_t, std::int64_t> platforms;
  std::map<std::int64_t, std::int64_t> tuning_runs;
  std::vector<std::string> complaints;

  // Tells of times that another machine's clock, or this one's, has wrong.
  const auto check_clock = [&](std::string_view what, std::string_view name, std::string_view field,
                               std::string_view time) {
    if (const auto wrong = db::ahead_complaint(field, time)) {
      complaints.push_back(fmt::format("{} {}: {}", what, name, *wrong));
    }
  };
  const auto copy = [&] {
    Numbers numbers(*ours.connection, *theirs.connection);
    theirs.each_platform([&](const StoredPlatform& stored) {
      platforms[stored.id] = ours.insert_platform(stored.platform);
    });
    const auto copy_run = [&](RunKind kind, StoredRun run) {
      run.platform = theirs.noted(platforms, run.platform, "platform");
      auto wrong = complaint(run);
      if (!wrong && theirs.leave_out) {
        wrong = db::ahead_complaint("started_at", run.provenance.started_at);
      }
      if (wrong) {
        const auto& file = theirs.connection->file();
        const std::string fault = fmt::format("run {}: {}", run.uid.substr(0, 40), *wrong);
        if (!theirs.leave_out) throw DamagedRow(file, fault);
        theirs.leave_out(DamagedRow(file, fault));
        mend(run);
      }
      check_clock("run", run.uid, "started_at", run.provenance.started_at);
      run.number = numbers.of(kind, run);
      return ours.insert_run(kind, run);
    };
    theirs.each_run(RunKind::probe, [&](const StoredRun& run) {
      const auto id = copy_run(RunKind::probe, run);
      theirs.each_measurement(run.id, [&](const Measurement& measurement) {
        ours.insert_measurement(id, measurement, Conflict::keep);
      });
    });
    theirs.each_run(RunKind::tuning, [&](const StoredRun& run) {
      const auto id = copy_run(RunKind::tuning, run);
      tuning_runs[run.id] = id;
      theirs.each_layer_gemm(
          run.id, [&](const LayerGemm& gemm) { ours.insert_layer_gemm(id, gemm, Conflict::keep); });
      theirs.each_phase_result(run.id, [&](const PhaseResult& result) {
        ours.insert_phase_result(id, result, Conflict::keep);
      });
    });
    theirs.each_candidate([&](const StoredCandidate& stored) {
      ours.insert_candidate(theirs.noted(tuning_runs, stored.run, "tuning run"), stored.candidate,
                            Conflict::keep);
    });
    theirs.each_winner([&](StoredWinner stored) {
      stored.platform = theirs.noted(platforms, stored.platform, "platform");
      stored.run = theirs.noted(tuning_runs, stored.run, "tuning run");
      const std::string problem = to_string(stored.winner.candidate.problem);
      if (theirs.leave_out) {
        if (const auto wrong = db::ahead_complaint("validated_at", stored.validated_at)) {
          theirs.leave_out(DamagedRow(theirs.connection->file(),
                                      fmt::format("winner of {}: {}", problem, *wrong)));
          stored.validated_at = db::utc_now();
        }
      }
      check_clock("winner of", problem, "validated_at", stored.validated_at);
      ours.insert_winner(stored, Conflict::keep);
    });
  };
  theirs.connection->read([&] { ours.connection->write(copy); });
  return complaints;
}

std::vector<std::string> Store::merge(const Store& other) {
  if (this == &other) return {};
  return merge_rows(*impl_, *other.impl_);
}

}  // namespace overlaptune
