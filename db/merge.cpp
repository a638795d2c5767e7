// `Store::merge`: copies the rows that another database has and this one lacks, in one transaction.

#include <map>

#include "db/impl.hpp"

namespace overlaptune {

using db::Conflict;

// Ids differ between databases. A platform is recognized by its fingerprint, a run by the random
// uid of its provenance, and everything else by its place in a run.
void Store::merge(const Store& other) {
  if (this == &other) return;
  Impl& ours = *impl_;
  const Impl& theirs = *other.impl_;
  std::map<std::int64_t, std::int64_t> platforms;
  std::map<std::int64_t, std::int64_t> tuning_runs;

  const auto copy = [&] {
    theirs.each_platform([&](const StoredPlatform& stored) {
      platforms[stored.id] = ours.insert_platform(stored.platform);
    });
    const auto copy_run = [&](RunKind kind, StoredRun run) {
      run.platform = theirs.noted(platforms, run.platform, "platform");
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
    });
    theirs.each_candidate([&](const StoredCandidate& stored) {
      ours.insert_candidate(theirs.noted(tuning_runs, stored.run, "tuning run"), stored.candidate,
                            Conflict::keep);
    });
    theirs.each_winner([&](StoredWinner stored) {
      stored.platform = theirs.noted(platforms, stored.platform, "platform");
      stored.run = theirs.noted(tuning_runs, stored.run, "tuning run");
      ours.insert_winner(stored, Conflict::keep);
    });
  };
  theirs.connection->read([&] { ours.connection->write(copy); });
}

}  // namespace overlaptune
