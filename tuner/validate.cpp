#include "tuner/validate.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "core/config/strategies.hpp"
#include "tuner/layer_probes.hpp"

namespace overlaptune {
namespace {

/// The time of a probe, or infinity where this machine cannot measure it. Error: the machine is
/// lost.
Expected<Microseconds> time_or_never(Machine& machine, const Probe& probe) {
  const auto measurement = machine.measure(probe);
  if (measurement) return measurement->time.median;
  if (measurement.error().kind == ErrorKind::bad_input) {
    return us(std::numeric_limits<double>::infinity());
  }
  return error_of(measurement);
}

}  // namespace

std::vector<double> time_ratios(const RunResult& of, const RunResult& over) {
  const std::vector<Microseconds> these = slowest_rank(of);
  const std::vector<Microseconds> those = slowest_rank(over);
  std::vector<double> list;
  for (std::size_t i = 0; i < std::min(these.size(), those.size()); ++i) {
    list.push_back(these[i] / those[i]);
  }
  return list;
}

std::vector<double> paired_ratios(const RunResult& sequential, const RunResult& result) {
  if (result.verdict != Verdict::valid || sequential.verdict != Verdict::valid) return {};
  return time_ratios(sequential, result);
}

std::optional<Candidate::Speedup> paired_speedup(const RunResult& sequential,
                                                 const RunResult& result) {
  const std::vector<double> ratios = paired_ratios(sequential, result);
  if (ratios.empty()) return {};
  return Candidate::Speedup{quantile(ratios, 0.5), quantile(ratios, 0.1), quantile(ratios, 0.9)};
}

Candidate judged(Candidate candidate, const RunResult& result, const RunResult& sequential) {
  candidate.measured.reset();
  candidate.speedup = paired_speedup(sequential, result);
  candidate.verdict = result.verdict;
  candidate.reason = result.reason;
  candidate.conditions = result.conditions;
  const std::vector<Microseconds> times = slowest_rank(result);
  if (!times.empty()) candidate.measured = summarize(times);
  return candidate;
}

Expected<Candidate> validate(Machine& machine, Candidate candidate, const Candidate& sequential) {
  std::vector<Config> configs{sequential.config};
  RunOptions options{.launch = candidate.launch, .expected = {sequential.predicted}};
  if (candidate.config != sequential.config) {
    configs.push_back(candidate.config);
    options.expected.push_back(candidate.predicted);
  }
  const auto results = machine.run(candidate.problem, configs, options);
  if (!results) return error_of(results);

  return judged(std::move(candidate), results->back(), results->front());
}

Expected<GemmTimes> gemm_times(Machine& machine, const Problem& problem,
                               const std::vector<Config>& tiled) {
  const auto library = time_or_never(
      machine,
      GemmProbe{.m = problem.m, .n = problem.n, .k = problem.k, .elements = problem.elements});
  if (!library) return error_of(library);
  GemmTimes times{.library = *library, .fastest = *library};
  // A GEMM that waits for rows is not timed without them.
  if (traits_of(problem.op).exchanges_first) return times;
  for (const Config& config : tiled) {
    if (tile_of(config).is_library()) continue;
    const auto time = time_or_never(machine, tiled_probe(problem, config));
    if (!time) return error_of(time);
    times.fastest = std::min(times.fastest, *time);
  }
  return times;
}

Expected<Microseconds> fastest_collective(Machine& machine, const Problem& problem,
                                          const std::vector<Config>& settings) {
  constexpr std::array<std::int64_t, 4> kPieces{1, 2, 4, 8};
  const std::int64_t bytes = collective_bytes(problem).count;
  Microseconds best = us(std::numeric_limits<double>::infinity());
  for (const Config& setting : settings) {
    if (!traits_of(strategy_of(setting)).has_collective) continue;
    // Of tiles that push: there is no such collective.
    if (transport_of(setting) == Transport::peer_access && comm_ctas(setting) == 0) continue;
    for (const std::int64_t pieces : kPieces) {
      if (bytes / pieces < 1) continue;
      auto time = time_or_never(machine, CollectiveProbe{.collective = collective_of(problem.op),
                                                         .bytes = {(bytes + pieces - 1) / pieces},
                                                         .ranks = problem.ranks,
                                                         .comm_ctas = comm_ctas(setting),
                                                         .transport = transport_of(setting)});
      if (!time) return time;
      best = std::min(best, static_cast<double>(pieces) * *time);
    }
  }
  return best;
}

}  // namespace overlaptune
