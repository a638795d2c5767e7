#include "tuner/judge.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <utility>

#include <spdlog/spdlog.h>

#include "core/config/work.hpp"
#include "tuner/validate.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kLeastCandidates = 2;

/// Compiles kernels before they are needed, each once.
class Kernels {
 public:
  explicit Kernels(Machine& machine) : machine_(machine) {}

  Expected<void> prepare(const std::vector<Candidate>& candidates) {
    std::vector<TiledKernel> missing;
    for (const Candidate& candidate : candidates) {
      const auto work = Work::make(candidate.problem, candidate.config);
      if (!work) continue;
      const auto kernel = work->kernel();
      if (kernel && known_.insert(*kernel).second) missing.push_back(*kernel);
    }
    return machine_.prepare(missing);
  }

 private:
  Machine& machine_;
  std::set<TiledKernel> known_{};
};

/// Removes the candidate of this config from `known` and returns it.
std::optional<Candidate> taken_from(std::vector<Candidate>& known, const Config& config) {
  const auto found = std::ranges::find(known, config, &Candidate::config);
  if (found == known.end()) return std::nullopt;
  Candidate candidate = std::move(*found);
  known.erase(found);
  return candidate;
}

}  // namespace

Expected<JudgedProblem> judge(Machine& machine, Store& store, TuningRunId run,
                              CandidateSource& proposals, RunMonitor& monitor,
                              JudgedProblem before) {
  Kernels kernels(machine);
  if (auto ready = kernels.prepare(proposals.likely()); !ready) return error_of(ready);
  JudgedProblem judged = std::move(before);
  auto candidate = proposals.next();
  if (!candidate) {
    judged.finished = true;
    return judged;
  }
  const Candidate sequential = judged.candidates.empty() ? *candidate : judged.candidates.front();
  const std::string name = to_string(sequential.problem);
  const auto judged_before = [&](const Config& config) {
    return std::ranges::find(judged.candidates, config, &Candidate::config);
  };
  std::vector<Candidate> known = store.candidates(run, sequential.problem, sequential.launch);
  std::erase_if(known, [&](const Candidate& each) {
    return judged_before(each.config) != judged.candidates.end();
  });
  for (; candidate; candidate = proposals.next()) {
    if (const auto found = judged_before(candidate->config); found != judged.candidates.end()) {
      proposals.judged(*found);
      continue;
    }
    if (auto stored = taken_from(known, candidate->config)) {
      proposals.judged(*stored);
      judged.candidates.push_back(std::move(*stored));
      ++judged.resumed;
      monitor.step_done();
      continue;
    }
    if (monitor.must_stop(name)) break;
    // `sequential` and the first proposal are measured, however short the share.
    if (judged.candidates.size() >= kLeastCandidates && monitor.share_spent()) break;
    if (auto ready = kernels.prepare({*candidate}); !ready) return error_of(ready);
    auto result = validate(machine, *candidate, sequential);
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
    proposals.judged(*result);
    judged.candidates.push_back(std::move(*result));
    ++judged.measured;
    monitor.step_done();
  }
  judged.finished = !candidate;
  std::move(known.begin(), known.end(), std::back_inserter(judged.candidates));
  return judged;
}

}  // namespace overlaptune
