#pragma once
// The database of one or several platforms: all measurements, all candidates, the winners.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/error.hpp"
#include "core/config/candidate.hpp"
#include "core/config/phase.hpp"
#include "core/fit.hpp"
#include "core/layer_gemm.hpp"
#include "core/measurement.hpp"
#include "core/platform.hpp"

namespace overlaptune {

using PlatformId = std::int64_t;
using ProbeRunId = std::int64_t;
using TuningRunId = std::int64_t;

struct StoredPlatform {
  PlatformId id = 0;
  Platform platform{};
};

/// The origin of a run: who measured, when, with what. It is stored with every run. Bytes of its
/// texts that are no UTF-8, and control characters, are stored as U+FFFD.
struct Provenance {
  std::string program_version;
  std::string host;
  std::string command_line;
  std::uint64_t seed = 0;
  std::string started_at;  ///< UTC, ISO 8601; the store fills it in if it is empty
};

struct TuningRun {
  TuningRunId id = 0;
  PlatformId platform = 0;
  /// The request, as one line of text. A run can only be resumed by the same request.
  std::string request;
  bool finished = false;
  Provenance provenance{};
};

/// A winner with the platform and the run that it comes from.
struct StoredWinner {
  PlatformId platform = 0;
  TuningRunId run = 0;
  std::string validated_at;  ///< UTC, ISO 8601
  Winner winner{};
};

/// A winner that is not as it was stored. Its problem may be part of the damage.
struct DamagedWinner {
  Problem problem{};
  Launch launch = Launch::graph;
  std::string fault;
};

/// A candidate with the run that it comes from.
struct StoredCandidate {
  PlatformId platform = 0;
  TuningRunId run = 0;
  Candidate candidate{};
};

/// The result of a phase as it is stored.
struct StoredPhaseResult {
  PlatformId platform = 0;
  TuningRunId run = 0;
  PhaseResult result{};
};

struct DatabaseInfo {
  int schema_version = 0;
  std::int64_t platforms = 0;
  std::int64_t probe_runs = 0;
  std::int64_t measurements = 0;
  std::int64_t problems = 0;
  std::int64_t tuning_runs = 0;
  std::int64_t candidates = 0;
  std::int64_t winners = 0;
  std::int64_t layer_gemms = 0;
  std::int64_t phase_results = 0;
};

/// A probe run or a tuning run, as a person chooses one.
struct RunBrief {
  std::string uid;  ///< 32 hexadecimal digits: the same in every database that has the run
  bool tuning = false;
  PlatformId platform = 0;
  std::string started_at;  ///< UTC, ISO 8601
  bool finished = false;
  std::int64_t rows = 0;     ///< measurements or candidates
  std::int64_t winners = 0;  ///< that it validated
  /// Whether something rests on it: a winner, the newest measurement of a probe, or the newest
  /// entry of a product of a model.
  bool needed = false;
};

/// Chooses runs. A run is chosen where all that is given holds.
struct PruneRule {
  std::optional<std::string>
      before{};               ///< it started before this time (UTC, ISO 8601, or its date)
  std::optional<int> keep{};  ///< it is not among the newest so many of its kind and platform
};

/// One of the three.
struct RemovalChoice {
  std::optional<PlatformId> platform{};
  std::string run{};  ///< the uid, or its first digits
  std::optional<Problem> problem{};
};

struct Removal {
  std::filesystem::path copy;        ///< what the file was before; empty for a store in memory
  std::vector<std::string> actions;  ///< "winners: 3 removed, 15 left": a line for each table
};

/// The failure (`bad_database`) for one row that breaks a rule or has a wrong seal. The rows after
/// it can still be read.
class DamagedRow : public Failure {
 public:
  DamagedRow(const std::filesystem::path& file, std::string fault);
  /// The fault of the row, without the file and the advice.
  [[nodiscard]] const std::string& fault() const noexcept { return fault_; }

 private:
  std::string fault_;
};

enum class Access {
  read,     ///< the file must exist; it is never written
  settled,  ///< as `read`, of a file that nobody writes: under a lock, and with no files beside it
  write,    ///< the file must exist
  create,   ///< as `write`; the file is created if it is missing
};

/// One open database. Every `add_…` is durable when it returns (one transaction each). A handle is
/// used by one thread at a time; several handles, in one process or many, may be open at once.
/// All methods throw `Failure`: `bad_database` for a damaged, foreign or newer file (its bytes stay
/// as they were), `cannot_write` for a read-only place or a full disk, `bad_input` for a file that
/// does not exist or a value that must not be stored (NaN, negative, a problem that breaks a rule).
class Store {
 public:
  explicit Store(const std::filesystem::path& file, Access access);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  // Platforms
  PlatformId add_platform(const Platform& platform);  ///< its id; equal platforms share one
  /// In the order in which they were added. A damaged one is left out and told to `damaged`; if
  /// that is empty, it is thrown.
  [[nodiscard]] std::vector<StoredPlatform> platforms(
      const std::function<void(const DamagedRow&)>& damaged = {}) const;
  /// The platform with this name or fingerprint; with an empty text, the only one stored. Error:
  /// none, or several. A damaged platform is thrown, unless another one has the fingerprint.
  [[nodiscard]] Expected<StoredPlatform> platform(std::string_view name_or_fingerprint) const;

  /// The stored platform that is equal to the one of a machine. Error: there is none; it names
  /// those that are stored, or says what differs from one of the same name.
  [[nodiscard]] Expected<StoredPlatform> platform(const Platform& own) const;

  // Probing
  ProbeRunId begin_probe_run(PlatformId platform, const Provenance& provenance);
  /// Replaces an earlier measurement of the same probe in the same run.
  void add_measurement(ProbeRunId run, const Measurement& measurement);
  void finish_probe_run(ProbeRunId run);
  /// The newest measurement of each probe of a platform.
  [[nodiscard]] std::vector<Measurement> measurements(PlatformId platform) const;

  // Tuning
  TuningRunId begin_tuning_run(PlatformId platform, std::string_view request,
                               const Provenance& provenance);
  void finish_tuning_run(TuningRunId run);
  [[nodiscard]] std::optional<TuningRun> last_tuning_run(PlatformId platform) const;
  /// Stores to which products of models the problems of a run belong, in one transaction. Replaces
  /// an earlier entry of the same run that differs in `times_per_pass` only.
  void add_layer_gemms(TuningRunId run, std::span<const LayerGemm> gemms);
  /// The products of models that were tuned on a platform, each once, from the newest run that has
  /// it.
  [[nodiscard]] std::vector<LayerGemm> layer_gemms(PlatformId platform) const;
  /// Replaces an earlier candidate of the same run with the same problem, launch and config.
  void add_candidate(TuningRunId run, const Candidate& candidate);
  /// Stores what the phases of second runs found, in one transaction. Replaces an earlier result of
  /// the same run, problem, launch, config and phase.
  void add_phase_results(TuningRunId run, std::span<const PhaseResult> results);
  /// In the order in which they were added.
  [[nodiscard]] std::vector<PhaseResult> phase_results(TuningRunId run) const;
  [[nodiscard]] std::vector<Candidate> candidates(TuningRunId run, const Problem& problem,
                                                  Launch launch) const;
  /// The valid candidates of a platform, from all its runs but one. Damaged rows are left out:
  /// `check` names them.
  [[nodiscard]] std::vector<Candidate> valid_candidates(
      PlatformId platform, std::optional<TuningRunId> left_out = {}) const;
  /// Replaces an earlier winner of the same platform, problem and launch.
  void put_winner(TuningRunId run, const Winner& winner);

  // Models
  /// Replaces the constants of the platform's model.
  void put_fit(PlatformId platform, const Fit& fit);
  /// The constants that were stored last; none where there are none or they are damaged, which
  /// `check` names.
  [[nodiscard]] std::optional<Fit> fit(PlatformId platform) const;

  // Answers
  /// The winner of a problem, or none. Throws `Failure` where it is damaged.
  [[nodiscard]] std::optional<StoredWinner> winner(PlatformId platform, const Problem& problem,
                                                   Launch launch) const;
  /// Whether a problem has a winner, sound or damaged: a damaged one is replaced by tuning again.
  [[nodiscard]] bool has_winner(PlatformId platform, const Problem& problem, Launch launch) const;
  [[nodiscard]] std::vector<StoredWinner> winners() const;
  /// Calls `visit` for each sound winner of a platform. A damaged one goes to `damaged` if its
  /// problem is legible; without `damaged` it ends the reading.
  void each_winner(PlatformId platform, const std::function<void(const StoredWinner&)>& visit,
                   const std::function<void(const DamagedWinner&)>& damaged = {}) const;
  [[nodiscard]] std::vector<StoredCandidate> all_candidates() const;
  /// Run by run, in the order in which they were added.
  [[nodiscard]] std::vector<StoredPhaseResult> all_phase_results() const;

  [[nodiscard]] DatabaseInfo info() const;
  /// All findings of `PRAGMA integrity_check`, of `foreign_key_check` and of our own rules.
  [[nodiscard]] std::vector<std::string> check() const;

  /// Where the file has a log: why the two do not belong together, as where a log stayed behind
  /// beside a copy that was put back. It counts the winners: without the log, the file has those
  /// that were stored; with it, it has not.
  [[nodiscard]] std::optional<std::string> log_fault() const;

  /// Copies the rows that `other` has and this one lacks; of two winners for one key the newer
  /// stays. A damaged row of `other` is a failure (`bad_database`) that changes nothing. Returns
  /// complaints about rows that are taken all the same: times ahead of this machine's clock.
  std::vector<std::string> merge(const Store& other);

  struct Repair {
    std::filesystem::path copy;        ///< what the file was before
    std::vector<std::string> actions;  ///< one line for each row that was lost, rebuilt or changed
  };
  /// Replaces the content of the file by all of its rows that are sound, with winners rebuilt from
  /// sound candidates. First writes a copy of the file beside it. Other processes wait meanwhile,
  /// or give up after their time (`cannot_write`). Nothing happens, and `copy` is empty, where
  /// `check` finds nothing.
  Repair repair();

  /// The probe runs, and behind them the tuning runs, each the oldest first. Throws for a damaged
  /// row.
  [[nodiscard]] std::vector<RunBrief> runs() const;
  /// Removes the runs that `rule` chooses and nothing rests on (`RunBrief::needed`), with their
  /// rows. Returns them. All or nothing.
  std::vector<RunBrief> prune(const PruneRule& rule);
  /// Removes what `choice` names, with all that rests on it. All or nothing. First writes a copy of
  /// the file beside it. Error: nothing of the kind is stored.
  [[nodiscard]] Expected<Removal> remove(const RemovalChoice& choice);
  /// Throws `Failure` (`cannot_write`) where others removed, replaced or overwrote the file while
  /// it was open for writing. Each change asks this itself, before it is committed. All rows that
  /// can still be read are then in a file beside it, which the message names.
  void confirm_place();
  /// A copy of the content in memory. Rows that are removed from the copy stay in the file.
  [[nodiscard]] Store in_memory() const;

  struct Impl;  // db/impl.hpp: the parts, for the rest of this room
  explicit Store(std::unique_ptr<Impl> impl);
  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// Writes the whole database as one JSON document (docs/database.md), and reads one into a new or
/// existing database. Import error: `bad_input` that names the place; nothing is written then.
/// Otherwise the complaints of `Store::merge`.
void export_json(const Store& store, std::ostream& out);
[[nodiscard]] Expected<std::vector<std::string>> import_json(Store& store, std::istream& in);

}  // namespace overlaptune
