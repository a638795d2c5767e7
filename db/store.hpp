#pragma once
// The database of one or several platforms: everything measured, every candidate, the winners.

#include <array>
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

#include "core/candidate.hpp"
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

/// Who measured, when, with what: stored with every run.
struct Provenance {
  std::string program_version;
  std::string host;
  std::string command_line;
  std::uint64_t seed = 0;
  std::string started_at;  ///< UTC, ISO 8601; filled in by the store where empty
};

struct TuningRun {
  TuningRunId id = 0;
  PlatformId platform = 0;
  /// What was asked for, as one line of text: a run may be resumed only under the same request.
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

/// The part of a winner that an answer holds.
struct BriefWinner {
  Problem problem{};
  Launch launch = Launch::graph;
  Config config{};
  Microseconds predicted{};
  Microseconds measured{};
  Microseconds sequential{};
  std::array<char, 24> validated_at{};  ///< UTC, ISO 8601 with milliseconds
};

/// A candidate with the run that it comes from.
struct StoredCandidate {
  PlatformId platform = 0;
  TuningRunId run = 0;
  Candidate candidate{};
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
};

enum class Access {
  read,    ///< the file must exist; never written, not even to migrate
  write,   ///< the file must exist; migrated to the current schema if older
  create,  ///< as `write`, and created if missing
};

/// One open database. Every `add_…` is durable when it returns (one transaction each). A handle is
/// used by one thread at a time; several handles, in one process or many, may be open at once.
/// All methods throw `Failure`: `bad_database` for a damaged, foreign or newer file (its bytes stay
/// as they were), `cannot_write` for a read-only place or a full disk, `bad_input` for a file that
/// is not there or a value that must not be stored (NaN, negative, a problem that breaks a rule).
class Store {
 public:
  explicit Store(const std::filesystem::path& file, Access access);
  ~Store();
  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;

  // Platforms
  PlatformId add_platform(const Platform& platform);  ///< the id of the equal one if there is one
  [[nodiscard]] std::vector<StoredPlatform> platforms() const;
  /// By name or fingerprint; with an empty text the only one stored. Error: none, or several.
  [[nodiscard]] Expected<StoredPlatform> platform(std::string_view name_or_fingerprint) const;

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
  /// What the problems of a run are in their models, all in one transaction. Replaces an earlier
  /// one of the same run that differs in `times_per_pass` only.
  void add_layer_gemms(TuningRunId run, std::span<const LayerGemm> gemms);
  /// The products of models that were tuned on a platform, each once, as the newest run tells it.
  [[nodiscard]] std::vector<LayerGemm> layer_gemms(PlatformId platform) const;
  /// Replaces an earlier candidate of the same run with the same problem, launch and config.
  void add_candidate(TuningRunId run, const Candidate& candidate);
  [[nodiscard]] std::vector<Candidate> candidates(TuningRunId run, const Problem& problem,
                                                  Launch launch) const;
  /// Replaces an earlier winner of the same platform, problem and launch.
  void put_winner(TuningRunId run, const Winner& winner);

  // Answers
  /// Compiled once and cached: an exact row in under 2 us.
  [[nodiscard]] std::optional<StoredWinner> winner(PlatformId platform, const Problem& problem,
                                                   Launch launch) const;
  [[nodiscard]] std::vector<StoredWinner> winners() const;
  /// The winners of a platform, in a fraction of the time that `winners` takes. What `visit` gets
  /// holds until it returns.
  void each_brief_winner(PlatformId platform, const std::function<void(BriefWinner&)>& visit) const;
  [[nodiscard]] std::vector<StoredCandidate> all_candidates() const;

  [[nodiscard]] DatabaseInfo info() const;
  /// Everything that `PRAGMA integrity_check`, `foreign_key_check` and our own rules find wrong.
  [[nodiscard]] std::vector<std::string> check() const;

  /// Copies what `other` has and this one lacks; of two winners for one key the newer stays.
  void merge(const Store& other);

  struct Impl;  // db/impl.hpp: the parts, for the rest of this room
  explicit Store(std::unique_ptr<Impl> impl);
  [[nodiscard]] Impl& impl() const { return *impl_; }

 private:
  std::unique_ptr<Impl> impl_;
};

/// The whole database as one JSON document (docs/database.md), and back into a new or merged-into
/// database. Import error: `bad_input` that names the place; nothing is written then.
void export_json(const Store& store, std::ostream& out);
[[nodiscard]] Expected<void> import_json(Store& store, std::istream& in);

}  // namespace overlaptune
