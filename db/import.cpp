// `import_json`: the document becomes a database in memory, which is then merged. So nothing is
// written before the whole document is known to be sound.

#include <istream>
#include <iterator>
#include <map>

#include <fmt/format.h>

#include "db/json_values.hpp"
#include "json/parse.hpp"

namespace overlaptune {
namespace {

using db::Conflict;
using Ids = std::map<std::string, std::int64_t>;

std::int64_t looked_up(const Ids& ids, const JsonReader& at, const char* what) {
  const auto found = ids.find(at.text());
  if (found == ids.end()) at.fail(fmt::format("no {} of the document is called so", what));
  return found->second;
}

void fill(Store::Impl& staging, const JsonReader& document) {
  if (document["format"].text() != "overlaptune") {
    document["format"].fail("expected \"overlaptune\": an export of this program");
  }
  const JsonReader version = document["format_version"];
  if (version.integer() > db::kFormatVersion) {
    version.fail("newer than this program; use a newer overlaptune");
  }
  if (version.integer() < db::kFormatVersion) {
    version.fail(fmt::format("expected {}, found {}: written before the first release",
                             db::kFormatVersion, version.integer()));
  }
  Ids platforms;
  Ids tuning_runs;
  std::map<std::int64_t, PlatformId> platform_of_run;
  document["platforms"].each([&](const JsonReader& at) {
    const Platform platform = db::platform_of(at);
    platforms[fingerprint(platform)] = staging.insert_platform(platform);
  });
  const auto insert_run = [&](const JsonReader& at, RunKind kind) {
    StoredRun run = db::run_of(at, kind);
    run.platform = looked_up(platforms, at["platform"], "platform");
    const auto id = staging.insert_run(kind, run);
    if (kind == RunKind::tuning) {
      tuning_runs[run.uid] = id;
      platform_of_run[id] = run.platform;
    }
    return id;
  };
  document["probe_runs"].each([&](const JsonReader& at) {
    const auto run = insert_run(at, RunKind::probe);
    at["measurements"].each([&](const JsonReader& measurement) {
      staging.insert_measurement(run, read_as<Measurement>(db::kMeasurement, measurement),
                                 Conflict::replace);
    });
  });
  document["tuning_runs"].each([&](const JsonReader& at) {
    const auto run = insert_run(at, RunKind::tuning);
    // Exports of older programs, which did not store the products of models, have no such field.
    if (at.has("layer_gemms")) {
      at["layer_gemms"].each([&](const JsonReader& gemm) {
        staging.insert_layer_gemm(run, read_as<LayerGemm>(db::kLayerGemm, gemm), Conflict::replace);
      });
    }
    // Those of programs whose second runs had no phases have no such field.
    if (at.has("phase_results")) {
      at["phase_results"].each([&](const JsonReader& result) {
        staging.insert_phase_result(run, read_as<PhaseResult>(db::kPhaseResult, result),
                                    Conflict::replace);
      });
    }
    at["candidates"].each([&](const JsonReader& candidate) {
      staging.insert_candidate(run, read_as<Candidate>(db::kCandidate, candidate),
                               Conflict::replace);
    });
  });
  document["winners"].each([&](const JsonReader& at) {
    StoredWinner winner = db::winner_of(at);
    winner.platform = looked_up(platforms, at["platform"], "platform");
    winner.run = looked_up(tuning_runs, at["run"], "tuning run");
    if (platform_of_run.at(winner.run) != winner.platform) {
      at["platform"].fail("expected the platform of the winner's run");
    }
    if (!staging.has_candidate_like(winner.run, winner.winner.candidate)) {
      at["candidate"].fail("expected one of its run, with the same prediction and reason");
    }
    staging.insert_winner(winner, Conflict::keep);
  });
}

}  // namespace

Expected<std::vector<std::string>> import_json(Store& store, std::istream& in) {
  Store staging(std::make_unique<Store::Impl>(db::open_memory()));
  try {
    const std::string text(std::istreambuf_iterator<char>(in), {});
    const auto document = parse_json(text, "");
    staging.impl().connection->write([&] { fill(staging.impl(), JsonReader(document)); });
  } catch (const Failure& failure) {
    return bad_input(fmt::format("import: {}", failure.what()));
  } catch (const std::ios_base::failure& failure) {  // thrown by the stream's buffer
    return bad_input(fmt::format("import: cannot be read: {}", failure.code().message()));
  }
  return store.merge(staging);
}

}  // namespace overlaptune
