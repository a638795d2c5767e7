#pragma once
// The implementation of a `Store`: the connection, and the statements that several files of this
// room share.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "db/open.hpp"
#include "db/rows.hpp"
#include "db/store.hpp"
#include "db/winner_cache.hpp"

namespace overlaptune {

/// A probe run or a tuning run as it is stored.
struct StoredRun {
  std::int64_t id = 0;
  PlatformId platform = 0;
  std::string uid;  ///< the same in every database that has the run; made if empty
  Provenance provenance{};
  std::optional<std::string> finished_at;
  std::string request;  ///< tuning runs only
};

enum class RunKind { probe, tuning };

struct Store::Impl {
  explicit Impl(db::Opened opened)
      : connection(std::move(opened.connection)),
        file_version(opened.file_version),
        frozen(opened.frozen),
        wal(opened.wal) {}

  std::unique_ptr<db::Connection> connection;
  int file_version = 0;
  bool frozen = false;
  bool wal = false;
  db::WinnerCache cache{};

  /// A stamp that changes with the database. Absent if changes cannot be noticed.
  [[nodiscard]] std::optional<db::Stamp> stamp() const {
    if (frozen) return db::Stamp{};
    if (!wal) return std::nullopt;
    return db::stamp(connection->database());
  }

  // Inside a transaction of the caller:
  PlatformId insert_platform(const Platform& platform);
  /// Inserts a run, or finds the one with the same uid, and returns its id. A run that is found is
  /// finished if either of the two is.
  std::int64_t insert_run(RunKind kind, const StoredRun& run);
  void insert_measurement(ProbeRunId run, const Measurement& measurement, db::Conflict conflict);
  void insert_layer_gemm(TuningRunId run, const LayerGemm& gemm, db::Conflict conflict);
  void insert_candidate(TuningRunId run, const Candidate& candidate, db::Conflict conflict);
  /// With `keep`, an existing winner of the same key stays unless the new one is newer.
  void insert_winner(const StoredWinner& stored, db::Conflict conflict);

  // Row by row, in the order in which they were added:
  void each_platform(const std::function<void(const StoredPlatform&)>& visit) const;
  void each_run(RunKind kind, const std::function<void(const StoredRun&)>& visit) const;
  void each_measurement(ProbeRunId run, const std::function<void(const Measurement&)>& visit) const;
  void each_layer_gemm(TuningRunId run, const std::function<void(const LayerGemm&)>& visit) const;
  void each_candidate(const std::function<void(const StoredCandidate&)>& visit) const;
  void each_candidate_of(TuningRunId run,
                         const std::function<void(const StoredCandidate&)>& visit) const;
  void each_winner(const std::function<void(const StoredWinner&)>& visit) const;

  /// The note for a row to which another one refers. Throws `bad_database` if there is none, which
  /// only a damaged file can cause.
  template <class T>
  [[nodiscard]] const T& noted(const std::map<std::int64_t, T>& notes, std::int64_t id,
                               std::string_view what) const {
    const auto found = notes.find(id);
    if (found == notes.end()) {
      throw Failure(ErrorKind::bad_database,
                    db::about(connection->file(), "damaged (a row refers to " + std::string(what) +
                                                      " " + std::to_string(id) +
                                                      ", which is not there); see "
                                                      "`overlaptune db check`"));
    }
    return found->second;
  }

 private:
  std::int64_t problem_id(const Problem& problem);
};

}  // namespace overlaptune
