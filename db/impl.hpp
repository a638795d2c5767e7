#pragma once
// The implementation of a `Store`: the connection, and the statements that several files of this
// room share.

#include <array>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "db/file/open.hpp"
#include "db/file/place.hpp"
#include "db/rows.hpp"
#include "db/store.hpp"

namespace overlaptune {

/// A probe run or a tuning run as it is stored.
struct StoredRun {
  std::int64_t id = 0;
  /// The place among the runs of both kinds, the newest last. An added run without one is the
  /// newest.
  std::optional<std::int64_t> number{};
  PlatformId platform = 0;
  std::string uid;  ///< the same in every database that has the run; made if empty
  Provenance provenance{};
  std::optional<std::string> finished_at;
  std::string request;  ///< tuning runs only
};

enum class RunKind { probe, tuning };

/// The fault of a run: of its times of day, or of a text.
[[nodiscard]] db::Complaint complaint(const StoredRun& run);

/// Whether a winner is taken instead of another one for the same key, wherever the two come from.
/// One whose time is ahead of the clock loses; then the one that was validated later wins, then the
/// faster one, then the one with the smaller line of its config.
[[nodiscard]] bool wins_over(const StoredWinner& one, const StoredWinner& other);

struct Store::Impl {
  explicit Impl(db::Opened opened)
      : connection(std::move(opened.connection)), lock(std::move(opened.lock)) {
    if (!opened.writes) return;
    place.emplace(*connection);
    connection->watch([this] { confirm_place(db::Recount::when_due); },
                      [this](const Failure& failure) {
                        // A locked or full place says nothing of the rows, and counting may wait.
                        confirm_place(failure.kind() == ErrorKind::cannot_write
                                          ? db::Recount::when_due
                                          : db::Recount::now);
                      });
  }

  std::unique_ptr<db::Connection> connection;
  std::unique_ptr<db::FileLock> lock{};
  std::optional<db::Place> place{};  ///< of a file that is open for writing
  std::optional<Failure> lost{};     ///< set once the file is not what its name means any more
  /// If set, the functions below that go row by row leave out damaged rows and tell them here;
  /// otherwise such a row ends them.
  std::function<void(const DamagedRow&)> leave_out{};

  /// Throws `Failure` (`cannot_write`) where others removed the file, or replaced or overwrote it.
  /// All rows that can still be read are then in a file beside it, which the message names.
  void confirm_place(db::Recount recount);

  /// Throws `Failure` (`bad_input`) where there is a complaint about what is to be stored.
  void refuse_if(const db::Complaint& wrong, std::string_view what) const;

  /// Inserts a run with cleaned texts, and says when it ended.
  std::int64_t begin(RunKind kind, StoredRun run);
  void finish(RunKind kind, std::int64_t run);

  // Inside a transaction of the caller:
  PlatformId insert_platform(const Platform& platform);
  /// Inserts a run, or finds the one with the same uid, and returns its id. A run that is found is
  /// finished if either of the two is.
  std::int64_t insert_run(RunKind kind, StoredRun run);
  void insert_measurement(ProbeRunId run, const Measurement& measurement, db::Conflict conflict);
  void insert_layer_gemm(TuningRunId run, const LayerGemm& gemm, db::Conflict conflict);
  void insert_phase_result(TuningRunId run, const PhaseResult& result, db::Conflict conflict);
  void insert_candidate(TuningRunId run, const Candidate& candidate, db::Conflict conflict);
  /// Adds the candidate of the winner too where its run has none like it. With `keep`, a sound
  /// winner of the same key stays unless the new one is better (`wins_over`).
  void insert_winner(const StoredWinner& stored, db::Conflict conflict);
  /// Whether the run has a candidate with this problem, launch, config, origin, rank, prediction
  /// and reason. The second run of a winner gives it other times, so these are not compared.
  [[nodiscard]] bool has_candidate_like(TuningRunId run, const Candidate& candidate) const;

  /// Tells each fault of a stored fit.
  void check_fits(const std::function<void(std::string)>& tell) const;

  // Row by row, runs in their order, all else in the order in which they were added:
  void each_platform(const std::function<void(const StoredPlatform&)>& visit) const;
  void each_run(RunKind kind, const std::function<void(const StoredRun&)>& visit) const;
  void each_measurement(ProbeRunId run, const std::function<void(const Measurement&)>& visit) const;
  void each_layer_gemm(TuningRunId run, const std::function<void(const LayerGemm&)>& visit) const;
  void each_phase_result(TuningRunId run,
                         const std::function<void(const PhaseResult&)>& visit) const;
  void each_candidate(const std::function<void(const StoredCandidate&)>& visit) const;
  void each_candidate_of(TuningRunId run,
                         const std::function<void(const StoredCandidate&)>& visit) const;
  void each_winner(const std::function<void(const StoredWinner&)>& visit) const;

  /// The note for a row to which another one refers. Throws `DamagedRow` if there is none, which
  /// only a damaged file can cause.
  template <class T>
  [[nodiscard]] const T& noted(const std::map<std::int64_t, T>& notes, std::int64_t id,
                               std::string_view what) const {
    const auto found = notes.find(id);
    if (found == notes.end()) {
      throw DamagedRow(connection->file(), "it refers to " + std::string(what) + " " +
                                               std::to_string(id) + ", which is not there");
    }
    return found->second;
  }

  /// Runs `work` for one row; a damaged row is left out if that is wanted.
  template <class F>
  void for_row(F&& work) const {
    try {
      work();
    } catch (const DamagedRow& row) {
      if (!leave_out) throw;
      leave_out(row);
    }
  }
  /// Reads and visits all rows of a query.
  template <class Read, class Visit>
  void for_rows(db::Query& query, Read&& read, const Visit& visit) const {
    while (step(query)) for_row([&] { visit(read(query)); });
  }

 private:
  /// Goes to the next row. Where damaged rows are left out, all that come after a page that cannot
  /// be read are too.
  [[nodiscard]] bool step(db::Query& query) const;
  /// Whether a sound winner of the same key stays when `other` comes in a merge.
  [[nodiscard]] bool keeps_against(const StoredWinner& other) const;
  std::int64_t problem_id(const Problem& problem);
};

/// The tables whose rows `Store::info` counts.
inline constexpr std::array kCountedTables{std::pair{"platforms", &DatabaseInfo::platforms},
                                           std::pair{"probe_runs", &DatabaseInfo::probe_runs},
                                           std::pair{"measurements", &DatabaseInfo::measurements},
                                           std::pair{"problems", &DatabaseInfo::problems},
                                           std::pair{"tuning_runs", &DatabaseInfo::tuning_runs},
                                           std::pair{"candidates", &DatabaseInfo::candidates},
                                           std::pair{"layer_gemms", &DatabaseInfo::layer_gemms},
                                           std::pair{"phase_results", &DatabaseInfo::phase_results},
                                           std::pair{"winners", &DatabaseInfo::winners}};

/// `Store::merge`. If damaged rows of `theirs` are left out, the others come.
std::vector<std::string> merge_rows(Store::Impl& ours, const Store::Impl& theirs);

}  // namespace overlaptune
