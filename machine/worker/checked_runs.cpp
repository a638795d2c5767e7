#include "machine/worker/checked_runs.hpp"

#include <algorithm>
#include <random>

#include <fmt/format.h>

namespace overlaptune::cuda {
namespace {

using std::chrono::nanoseconds;

constexpr int kFewestRuns = 2;
constexpr int kDelayedRuns = 1000;
constexpr std::int64_t kLongestDelay = 2'000'000;  // ns
/// Replays between two looks at the results. A buffer that all operand sets share is written twice
/// while a rank that is late may still read it.
constexpr int kFewestReplays = 4;
constexpr nanoseconds kLeastLate{200'000};
constexpr nanoseconds kMostLate{1'000'000'000};  // well within the time-out of a run

/// Waits for the end of the runs and comparisons. The comparisons are read after a time-out, too:
/// they must not count for the next config.
bool ends_and_is_read(CheckedConfig& config, CheckedRuns& runs) {
  runs.ended = config.ends();
  runs.worst = worse(runs.worst, config.deviation());
  return runs.ended;
}

void look_at_all(CheckedConfig& config, CheckedRuns& runs) {
  for (int set = 0; set < config.sets(); ++set) {
    config.compare(set);
    runs.worst = worse(runs.worst, config.deviation());
  }
}

void poison_all(CheckedConfig& config) {
  for (int set = 0; set < config.sets(); ++set) config.poison(set);
  config.meet();
}

}  // namespace

CheckedRuns check_runs(CheckedConfig& config) {
  CheckedRuns runs;
  for (int run = 0; run < std::max(kFewestRuns, config.sets()); ++run) {
    const int set = run % config.sets();
    config.poison(set);
    const auto start = std::chrono::steady_clock::now();
    config.run(set);
    config.compare(set);
    const bool ended = ends_and_is_read(config, runs);
    runs.last = std::chrono::steady_clock::now() - start;
    if (!ended) break;
  }
  return runs;
}

CheckedRuns check_delayed_runs(CheckedConfig& config) {
  std::minstd_rand random(1);
  const auto run_late = [&](int set) {
    config.delay_last_rank(nanoseconds(static_cast<std::int64_t>(random()) % kLongestDelay));
    config.run(set);
  };
  CheckedRuns runs;
  for (int run = 0; run < kDelayedRuns; ++run) {
    const int set = run % config.sets();
    config.poison(set);
    run_late(set);
    run_late(set);
    config.compare(set);
    if (!ends_and_is_read(config, runs)) break;
  }
  return runs;
}

CheckedRuns check_replays(CheckedConfig& config) {
  CheckedRuns runs;
  // Each set runs once: a second run on the same inputs would repair the result of a first one that
  // began too early and read the poison.
  const auto start = std::chrono::steady_clock::now();
  poison_all(config);
  for (int set = 0; set < config.sets(); ++set) config.run(set);
  runs.ended = config.ends();
  if (!runs.ended) return runs;
  look_at_all(config, runs);
  // Now the ranks are apart by the delay of one of them. It is as long as a run and a comparison on
  // every set, so a rank that does not wait has run and compared the first set before the late rank
  // begins.
  const nanoseconds late =
      std::clamp<nanoseconds>(std::chrono::steady_clock::now() - start, kLeastLate, kMostLate);
  poison_all(config);
  config.delay_last_rank(late);
  for (int done = 0; done < kFewestReplays; done += config.sets()) {
    for (int set = 0; set < config.sets(); ++set) {
      config.run(set);
      if (done + set == 0) config.compare(set);
    }
  }
  if (ends_and_is_read(config, runs)) look_at_all(config, runs);
  return runs;
}

std::string complaint(const kernels::Deviation& seen, double allowed) {
  if (seen.not_finite > 0) {
    return fmt::format("{} elements of the result were not written or are not finite",
                       seen.not_finite);
  }
  if (!(seen.largest <= allowed)) {
    return fmt::format("a relative error of {:.3g}, expected at most {:.3g}", seen.largest,
                       allowed);
  }
  return {};
}

}  // namespace overlaptune::cuda
