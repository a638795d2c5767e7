#include "model/learned_model.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <set>

#include "model/strategy_model.hpp"

namespace overlaptune {
namespace {

/// Measured configs of each problem that may be adapted to others.
constexpr std::size_t kFastest = 3;
/// Problems whose configs are adapted to another one.
constexpr std::size_t kNeighbours = 3;
/// Deviations that a gain over `sequential` has to pass. With more of them, answers stay with
/// `sequential` though others are faster (docs/model.md, "How wrong it is").
constexpr double kDeviations = 0.5;

/// The distance of two problems whose configs fit each other: that of their sizes.
double distance(const Problem& a, const Problem& b) {
  const auto apart = [](std::int64_t one, std::int64_t other) {
    return std::abs(std::log2(static_cast<double>(one) / static_cast<double>(other)));
  };
  return apart(a.m, b.m) + apart(a.n, b.n) + apart(a.k, b.k);
}

}  // namespace

Microseconds LearnedScore::quantile(double deviations) const {
  return analytic * std::exp(correction.mean + deviations * correction.deviation);
}

LearnedScore score_of(const Config& config, const Prediction& prediction,
                      const ProblemCorrections& corrections) {
  CorrectionPoint point = corrections.point(config, prediction.over_ideal());
  const Correction correction = corrections.of(point);
  return {config, prediction.time, correction, std::move(point)};
}

bool is_surely_faster(const LearnedScore& config, const LearnedScore& sequential,
                      const ProblemCorrections& corrections) {
  const double gain = std::log(sequential.time() / config.time());
  if (corrections.rows() == 0) return gain > 0;
  return gain > kDeviations * corrections.between(config.point, sequential.point).deviation;
}

const LearnedScore& Ranking::choice() const {
  const LearnedScore& first = scores.front();
  return is_surely_faster(first, sequential, corrections) ? first : sequential;
}

bool same_kernels(const Config& a, const Config& b) {
  return strategy_of(a) == strategy_of(b) && tile_of(a) == tile_of(b) &&
         tiles_push(a) == tiles_push(b);
}

void LearnedModel::learn(const Candidate& candidate) {
  if (candidate.verdict != Verdict::valid || !candidate.measured) return;
  const auto prediction = analytic_.predict(candidate.problem, candidate.config, candidate.launch);
  if (!prediction) return;
  const Microseconds time = candidate.measured->median;
  corrections_.add(correction_point(candidate.problem, candidate.launch, candidate.config,
                                    prediction->over_ideal()),
                   std::log(time / prediction->time));
  auto known = std::ranges::find_if(measured_, [&](const Measured& each) {
    return each.problem == candidate.problem && each.launch == candidate.launch;
  });
  if (known == measured_.end()) {
    known = measured_.insert(known, {candidate.problem, candidate.launch, {}});
  }
  const auto at = std::ranges::upper_bound(known->fastest, time, {}, &Scored::time);
  known->fastest.insert(at, {candidate.config, time});
  if (known->fastest.size() > kFastest) known->fastest.pop_back();
}

std::vector<Strategy> LearnedModel::measured_strategies(Op op) const {
  std::set<Strategy> measured;
  for (const Measured& each : measured_) {
    if (each.problem.op != op) continue;
    for (const Scored& scored : each.fastest) measured.insert(strategy_of(scored.config));
  }
  if (!measured.empty()) measured.insert(kBaseline);
  return {measured.begin(), measured.end()};
}

bool LearnedModel::was_tried(Op op, const Config& config) const {
  bool any = false;
  for (const Measured& each : measured_) {
    if (each.problem.op != op) continue;
    any = true;
    for (const Scored& scored : each.fastest) {
      const bool same_strategy = strategy_of(scored.config) == strategy_of(config);
      if (same_strategy && tiles_push(scored.config) == tiles_push(config)) return true;
    }
  }
  return !any;
}

bool LearnedModel::has_kernels_of(const Problem& problem, const Config& config) const {
  return std::ranges::any_of(measured_, [&](const Measured& each) {
    return each.problem.op == problem.op && each.problem.elements == problem.elements &&
           each.problem.ranks == problem.ranks && same_kernels(each.fastest.front().config, config);
  });
}

std::vector<const LearnedModel::Measured*> LearnedModel::neighbours(const Problem& problem,
                                                                    Launch launch) const {
  std::vector<const Measured*> list;
  for (const Measured& each : measured_) {
    const Problem& other = each.problem;
    if (each.launch == launch && other.op == problem.op && other.elements == problem.elements &&
        other.ranks == problem.ranks) {
      list.push_back(&each);
    }
  }
  const std::size_t count = std::min(kNeighbours, list.size());
  std::ranges::partial_sort(list, list.begin() + static_cast<std::ptrdiff_t>(count), {},
                            [&](const Measured* each) { return distance(each->problem, problem); });
  list.resize(count);
  return list;
}

Expected<LearnedScore> LearnedModel::score(const ProblemCorrections& corrections,
                                           const Config& config) const {
  const auto prediction = analytic_.predict(corrections.problem(), config, corrections.launch());
  if (!prediction) return error_of(prediction);
  return score_of(config, *prediction, corrections);
}

Expected<Ranking> LearnedModel::rank(const Problem& problem, Launch launch,
                                     const SearchOptions& options) const {
  std::optional<Model> on_fewer;
  if (options.free_sms > 0) on_fewer = analytic_.leaving(options.free_sms);
  const Model& analytic = on_fewer ? *on_fewer : analytic_;
  const auto baseline = search(analytic, problem, launch, {.best = 1, .strategies = {kBaseline}});
  if (!baseline) return error_of(baseline);
  // Each strategy has a list of its own, because the model's errors of two strategies have nothing
  // in common: one that the corrections bring to the front may lie behind hundreds of others.
  std::vector<Scored> scored;
  for (const StrategyModel* each : strategy_models()) {
    const Strategy strategy = each->strategy();
    if (!considers(options, strategy)) continue;
    SearchOptions alone = options;
    alone.strategies = {strategy};
    auto found = search(analytic, problem, launch, alone);
    if (!found) return error_of(found);
    std::move(found->begin(), found->end(), std::back_inserter(scored));
  }
  scored.push_back(baseline->front());
  for (const Measured* neighbour : neighbours(problem, launch)) {
    for (const Scored& measured : neighbour->fastest) {
      auto own = model_of(strategy_of(measured.config))
                     .adapted(analytic.parts(), problem, launch, measured.config);
      if (own) scored.push_back(std::move(*own));
    }
  }
  Ranking ranking;
  ranking.corrections = corrections_.around(problem, launch);
  std::vector<LearnedScore>& list = ranking.scores;
  for (const Scored& each : scored) {
    if (std::ranges::find(list, each.config, &LearnedScore::config) != list.end()) continue;
    const auto prediction = analytic.predict(problem, each.config, launch);
    if (!prediction) return error_of(prediction);
    LearnedScore score = score_of(each.config, *prediction, ranking.corrections);
    if (each.config == baseline->front().config) ranking.sequential = score;
    const auto at = std::ranges::upper_bound(list, score.time(), {}, &LearnedScore::time);
    list.insert(at, std::move(score));
  }
  return ranking;
}

}  // namespace overlaptune
