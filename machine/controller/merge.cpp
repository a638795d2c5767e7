#include "machine/controller/merge.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace overlaptune::cuda {
namespace {

using Times = std::vector<Microseconds>;

/// The slowest rank of each repetition, for one list of each rank's results. Empty lists of ranks
/// that took no part are skipped.
template <class T>
Expected<Times> slowest(const std::vector<T>& ranks, std::size_t taking_part, Times T::*list) {
  Times slowest = ranks.front().*list;
  for (std::size_t rank = 1; rank < ranks.size(); ++rank) {
    const Times& times = ranks[rank].*list;
    if (times.empty() && rank >= taking_part) continue;
    if (times.size() != slowest.size()) {
      return unavailable(
          fmt::format("rank {} timed {} repetitions, rank 0 timed {}: all must be of "
                      "the same build",
                      rank, times.size(), slowest.size()));
    }
    for (std::size_t i = 0; i < times.size(); ++i) slowest[i] = std::max(slowest[i], times[i]);
  }
  return slowest;
}

std::size_t ranks_of(const Probe& probe, std::size_t all) {
  int ranks = 0;
  if (const auto* collective = std::get_if<CollectiveProbe>(&probe)) ranks = collective->ranks;
  if (const auto* both = std::get_if<ConcurrentProbe>(&probe)) ranks = both->collective.ranks;
  if (const auto* both = std::get_if<SustainedProbe>(&probe)) ranks = both->collective.ranks;
  return ranks > 0 ? std::min(all, static_cast<std::size_t>(ranks)) : all;
}

/// The lowest clock and the highest power, as these held the slowest rank back.
Conditions merged(Conditions all, const Conditions& one) {
  if (one.sm_clock_mhz) {
    all.sm_clock_mhz = std::min(all.sm_clock_mhz.value_or(*one.sm_clock_mhz), *one.sm_clock_mhz);
  }
  if (one.power_w) all.power_w = std::max(all.power_w.value_or(*one.power_w), *one.power_w);
  return all;
}

int severity(Verdict verdict) {
  switch (verdict) {
    case Verdict::valid:
      return 0;
    case Verdict::unsupported:
      return 1;
    case Verdict::wrong:
      return 2;
    default:
      return 3;
  }
}

RunResult merged_config(const std::vector<RunReply>& replies, std::size_t config) {
  RunResult result;
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    const ConfigSamples& samples = replies[rank].configs[config];
    if (severity(samples.verdict) > severity(result.verdict)) {
      result.verdict = samples.verdict;
      result.reason = fmt::format("rank {}: {}", rank, samples.reason);
    }
    if (!samples.times.empty()) result.rank_times.push_back(samples.times);
    result.conditions = merged(result.conditions, samples.conditions);
    result.activities.insert(result.activities.end(), samples.activities.begin(),
                             samples.activities.end());
  }
  // The slowest rank is unknown if some ranks have no times.
  if (result.rank_times.size() != replies.size()) result.rank_times.clear();
  return result;
}

}  // namespace

Expected<Measurement> merge(const Probe& probe, const std::vector<Samples>& samples) {
  const std::size_t ranks = ranks_of(probe, samples.size());
  const auto times = slowest(samples, ranks, &Samples::times);
  if (!times) return error_of(times);
  if (times->empty()) return unavailable("rank 0 timed no repetition of " + to_string(probe));
  const auto others = slowest(samples, ranks, &Samples::collective_times);
  if (!others) return error_of(others);
  Measurement measurement{
      .probe = probe, .time = summarize(*times), .library_tile = samples.front().library_tile};
  if (std::holds_alternative<ConcurrentProbe>(probe)) {
    if (others->empty()) {
      return unavailable("rank 0 timed no collective of " + to_string(probe));
    }
    measurement.collective_time = summarize(*others);
  }
  for (std::size_t rank = 0; rank < ranks; ++rank) {
    measurement.conditions = merged(measurement.conditions, samples[rank].conditions);
  }
  return measurement;
}

Expected<std::vector<RunResult>> merge(const std::vector<RunReply>& replies, std::size_t configs) {
  for (std::size_t rank = 0; rank < replies.size(); ++rank) {
    if (replies[rank].configs.size() != configs) {
      return unavailable(fmt::format("rank {} answered for {} configs, expected {}", rank,
                                     replies[rank].configs.size(), configs));
    }
  }
  const auto gemm = slowest(replies, replies.size(), &RunReply::gemm_alone);
  if (!gemm) return error_of(gemm);
  const auto collective = slowest(replies, replies.size(), &RunReply::collective_alone);
  if (!collective) return error_of(collective);
  std::vector<RunResult> results;
  for (std::size_t config = 0; config < configs; ++config) {
    RunResult result = merged_config(replies, config);
    for (const Times& times : result.rank_times) {
      if (times.size() != result.rank_times.front().size()) {
        return unavailable(
            fmt::format("config {}: the ranks timed different numbers of repetitions", config));
      }
    }
    result.gemm_alone = *gemm;
    result.collective_alone = *collective;
    results.push_back(std::move(result));
  }
  return results;
}

Expected<Platform> merge(const std::vector<Hello>& hellos, bool multicast_allowed,
                         int ranks_per_gpu) {
  std::vector<PlacedDevice> ranks;
  ranks.reserve(hellos.size());
  for (const Hello& hello : hellos) ranks.push_back({hello.host, hello.node, hello.device});
  return platform_of(ranks, multicast_allowed, ranks_per_gpu);
}

}  // namespace overlaptune::cuda
