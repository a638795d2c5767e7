#include "db/json_values.hpp"

#include <fmt/format.h>

namespace overlaptune::db {
namespace {

constexpr Object kPlatform(kPlatformFields);
constexpr Object kProvenance(kProvenanceFields);
/// All of a winner but its overlap fraction.
constexpr Object kWinner(field("candidate", &Winner::candidate, kCandidate),
                         Field{"sequential_us", &Winner::sequential},
                         Field{"gemm_alone_us", &Winner::gemm_alone},
                         Field{"collective_alone_us", &Winner::collective_alone});

}  // namespace

Json to_json(const Platform& platform) {
  Json object{{"fingerprint", fingerprint(platform)}};
  kPlatform.put(object, platform);
  return object;
}

Platform platform_of(const JsonReader& at) {
  auto platform = read_as<Platform>(kPlatform, at);
  if (at["fingerprint"].text() != fingerprint(platform)) {
    at["fingerprint"].fail(
        fmt::format("the other fields give {}; some were edited", fingerprint(platform)));
  }
  return platform;
}

Json to_json(const StoredRun& run, RunKind kind, const std::string& platform) {
  Json object{{"uid", run.uid}, {"platform", platform}};
  kProvenance.put(object, run.provenance);
  object["finished_at"] = written<Json>(Plain{}, run.finished_at);
  if (kind == RunKind::tuning) object["request"] = run.request;
  return object;
}

StoredRun run_of(const JsonReader& at, RunKind kind) {
  StoredRun run;
  run.uid = at["uid"].text();
  if (db::uid_complaint(run.uid)) at["uid"].fail("expected 32 hexadecimal digits");
  kProvenance.read(at, run.provenance);
  if (run.provenance.started_at.empty()) at["started_at"].fail("expected a time, not nothing");
  read_into(Plain{}, at["finished_at"], run.finished_at);
  if (const auto wrong = complaint(run)) at.fail(*wrong);
  if (kind == RunKind::tuning) run.request = at["request"].text();
  return run;
}

Json to_json(const StoredWinner& stored, const std::string& platform, const std::string& run) {
  Json object{{"platform", platform}, {"run", run}, {"validated_at", stored.validated_at}};
  kWinner.put(object, stored.winner);
  object["overlap_fraction"] = written<Json>(Plain{}, stored.winner.overlap_fraction);
  return object;
}

StoredWinner winner_of(const JsonReader& at) {
  StoredWinner stored;
  stored.validated_at = at["validated_at"].text();
  if (const auto wrong = time_complaint("time", stored.validated_at)) {
    at["validated_at"].fail(*wrong);
  }
  kWinner.read(at, stored.winner);
  // Exports of programs that traced no winner have no such field.
  if (at.has("overlap_fraction")) stored.winner.overlap_fraction = at["overlap_fraction"].number();
  if (const auto wrong = complaint(stored.winner)) at.fail(*wrong);
  return stored;
}

}  // namespace overlaptune::db
