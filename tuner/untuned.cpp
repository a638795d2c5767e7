#include "tuner/untuned.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "core/statistics.hpp"
#include "model/draw.hpp"
#include "tuner/propose.hpp"
#include "tuner/validate.hpp"

namespace overlaptune {
namespace {

/// A number from `least` to `most`, evenly in its logarithm.
double between(double least, double most, Dice& dice) {
  constexpr std::size_t kSides = 1 << 20;
  const double part = static_cast<double>(dice.roll(kSides)) / kSides;
  return least * std::pow(most / least, part);
}

/// A size between two others and around them; a multiple of `multiple`, and in two of three cases
/// of 128, in the third of no more than 32 if `multiple` allows.
std::int64_t drawn_size(std::int64_t one, std::int64_t other, std::int64_t multiple, Dice& dice) {
  constexpr double kAround = 1.4;
  const double size = between(static_cast<double>(std::min(one, other)) / kAround,
                              static_cast<double>(std::max(one, other)) * kAround, dice);
  const bool even = dice.roll(3) != 0;
  const std::int64_t step = even ? std::max<std::int64_t>(128, multiple) : multiple;
  const std::int64_t rounded = std::max<std::int64_t>(1, std::llround(size / double(step))) * step;
  return even || rounded % 64 != 0 ? rounded : rounded + multiple;
}

Problem drawn_problem(const Problem& one, const Problem& other, Dice& dice) {
  Problem problem = one;
  const std::int64_t rows = row_multiple(one);
  problem.m = drawn_size(one.m, other.m, rows, dice);
  problem.n = drawn_size(one.n, other.n, n_multiple(one.elements), dice);
  problem.k = drawn_size(one.k, other.k, k_multiple(one.elements), dice);
  return problem;
}

bool alike(const Problem& a, const Problem& b) {
  return a.op == b.op && a.elements == b.elements && a.ranks == b.ranks;
}

/// The fastest config of a short tuning.
Expected<Config> tuned(Machine& machine, LearnedModel& model, const Problem& problem, Launch launch,
                       int top_k) {
  auto proposals = Proposals::make(model, {}, problem, launch, {.top_k = top_k});
  if (!proposals) return error_of(proposals);
  std::vector<Candidate> candidates;
  while (auto candidate = proposals->next()) {
    const Candidate& sequential = candidates.empty() ? *candidate : candidates.front();
    auto result = validate(machine, *candidate, sequential);
    if (!result) return error_of(result);
    proposals->judged(*result);
    candidates.push_back(std::move(*result));
  }
  const Candidate* best = fastest(candidates);
  return best != nullptr ? best->config : candidates.front().config;
}

}  // namespace

std::vector<Problem> untuned_problems(std::span<const Problem> tuned, const Platform& platform,
                                      int count, std::uint64_t seed) {
  constexpr int kDrawsPerProblem = 50;
  std::vector<Problem> list;
  if (tuned.empty()) return list;
  std::set<Problem> known(tuned.begin(), tuned.end());
  Dice dice(seed);
  for (int draws = kDrawsPerProblem * count; draws > 0 && std::ssize(list) < count; --draws) {
    const Problem& one = tuned[dice.roll(tuned.size())];
    const Problem& other = tuned[dice.roll(tuned.size())];
    if (!alike(one, other)) continue;
    const Problem problem = drawn_problem(one, other, dice);
    if (!validated(problem) || !fits(problem, platform)) continue;
    if (known.insert(problem).second) list.push_back(problem);
  }
  return list;
}

Expected<UntunedResult> run_untuned(Machine& machine, LearnedModel& model, const Problem& problem,
                                    Launch launch, const Scored& answer, int top_k) {
  const auto ranking = model.rank(problem, launch, {.strategies = {kBaseline}});
  if (!ranking) return error_of(ranking);
  const auto best = tuned(machine, model, problem, launch, top_k);
  if (!best) return error_of(best);
  std::vector<Config> configs{ranking->sequential.config, answer.config};
  if (*best != answer.config) configs.push_back(*best);
  constexpr int kRepetitions = 24;
  const auto results = machine.run(problem, configs,
                                   {.launch = launch, .repetitions = kRepetitions, .spread = true});
  if (!results) return error_of(results);
  UntunedResult row{.problem = problem,
                    .config = answer.config,
                    .predicted = answer.time,
                    .verdict = (*results)[1].verdict,
                    .best = *best};
  const RunResult& own = (*results)[1];
  if (own.verdict != Verdict::valid) return row;
  row.measured = summarize(slowest_rank(own)).median;
  row.over_sequential = quantile(time_ratios(own, results->front()), 0.5);
  if (results->back().verdict == Verdict::valid) {
    row.over_best = std::max(1.0, quantile(time_ratios(own, results->back()), 0.5));
  }
  return row;
}

UntunedSummary summary_of(std::span<const UntunedResult> results) {
  constexpr double kSlower = 1.02;
  UntunedSummary summary;
  std::vector<double> errors;
  std::vector<double> regrets;
  double speedups = 0;
  for (const UntunedResult& result : results) {
    if (result.verdict != Verdict::valid) {
      ++summary.failed;
      continue;
    }
    ++summary.problems;
    errors.push_back(std::abs(result.predicted / result.measured - 1));
    regrets.push_back(result.over_best - 1);
    summary.slower_than_sequential += result.over_sequential > kSlower ? 1 : 0;
    speedups -= std::log(result.over_sequential);
  }
  const auto most = [](const std::vector<double>& list) {
    return list.empty() ? std::nan("") : std::ranges::max(list);
  };
  summary.error_mean = mean(errors);
  summary.error_most = most(errors);
  summary.regret_mean = mean(regrets);
  summary.regret_most = most(regrets);
  summary.speedup = std::exp(speedups / summary.problems);
  return summary;
}

}  // namespace overlaptune
