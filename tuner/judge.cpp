#include "tuner/judge.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <spdlog/spdlog.h>

#include "core/work.hpp"
#include "tuner/validate.hpp"

namespace overlaptune {
namespace {

std::vector<TiledKernel> kernels_of(const std::vector<Candidate>& candidates) {
  std::set<TiledKernel> kernels;
  for (const Candidate& candidate : candidates) {
    const auto work = Work::make(candidate.problem, candidate.config);
    if (!work) continue;
    if (const auto kernel = work->kernel()) kernels.insert(*kernel);
  }
  return {kernels.begin(), kernels.end()};
}

/// Removes the candidate of this config from `known` and returns it.
std::optional<Candidate> taken_from(std::vector<Candidate>& known, const Config& config) {
  const auto found = std::find_if(known.begin(), known.end(),
                                  [&](const Candidate& each) { return each.config == config; });
  if (found == known.end()) return std::nullopt;
  Candidate candidate = std::move(*found);
  known.erase(found);
  return candidate;
}

}  // namespace

Expected<JudgedProblem> judge(Machine& machine, Store& store, TuningRunId run,
                              const std::vector<Candidate>& proposed, RunMonitor& monitor) {
  if (auto ready = machine.prepare(kernels_of(proposed)); !ready) return error_of(ready);
  const Candidate& sequential = proposed.front();
  const std::string name = to_string(sequential.problem);
  std::vector<Candidate> known = store.candidates(run, sequential.problem, sequential.launch);
  JudgedProblem judged;
  for (const Candidate& candidate : proposed) {
    if (auto stored = taken_from(known, candidate.config)) {
      judged.candidates.push_back(std::move(*stored));
      ++judged.resumed;
      monitor.step_done();
      continue;
    }
    if (monitor.must_stop(name)) break;
    auto result = validate(machine, candidate, sequential);
    if (!result && result.error().kind == ErrorKind::bad_input) {
      // This problem does not fit the machine's memory; other problems may.
      spdlog::warn("{}: left out: {}", name, result.error().message);
      break;
    }
    if (!result) return error_of(result);
    store.add_candidate(run, *result);
    if (result->verdict != Verdict::valid) {
      ++judged.failed;
      spdlog::debug("{}: {}: {}", name, to_string(result->config), result->reason);
    }
    judged.candidates.push_back(std::move(*result));
    ++judged.measured;
    monitor.step_done();
  }
  judged.finished = judged.candidates.size() == proposed.size();
  std::move(known.begin(), known.end(), std::back_inserter(judged.candidates));
  return judged;
}

}  // namespace overlaptune
