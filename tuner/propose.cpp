#include "tuner/propose.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <utility>

namespace overlaptune {
namespace {

/// Configs that the model ranks for each one that it may propose: near-duplicates teach little.
constexpr int kRanked = 8;

/// Least expected improvement of a proposal, as a part of the time: below it lies the noise of the
/// measurements that would tell the two apart.
constexpr double kWorthwhile = 0.002;

/// The expectation of max(0, x) for a normal x.
double expected_improvement(double mean, double deviation) {
  if (deviation <= 0) return std::max(0.0, mean);
  const double z = mean / deviation;
  const double below = std::erfc(-z / std::numbers::sqrt2) / 2;
  const double density = std::exp(-z * z / 2) * std::numbers::inv_sqrtpi / std::numbers::sqrt2;
  return mean * below + deviation * density;
}

}  // namespace

Expected<Proposals> Proposals::make(LearnedModel& model, const ExploreSpace& space,
                                    const Problem& problem, Launch launch,
                                    const ProposeOptions& options) {
  auto ranking =
      model.rank(problem, launch, {.best = kRanked * options.top_k, .stop = options.stop});
  if (!ranking) return error_of(ranking);
  std::set<std::string> seen;
  const auto candidate = [&](const LearnedScore& score, Origin origin) {
    seen.insert(to_string(score.config));
    return Candidate{.problem = problem,
                     .launch = launch,
                     .config = score.config,
                     .origin = origin,
                     .predicted = score.time()};
  };
  Proposals proposals(model);
  proposals.top_k_ = options.top_k;
  proposals.sequential_ = candidate(ranking->sequential, Origin::baseline);
  if (ranking->scores.front().config == ranking->sequential.config) {
    proposals.sequential_->rank_by_model = proposals.proposed_++;
  }
  for (const LearnedScore& score : ranking->scores) {
    if (seen.contains(to_string(score.config))) continue;
    proposals.by_model_.push_back(candidate(score, Origin::shortlist));
  }
  for (const Config& config : explore(space, problem, options.explore, options.seed)) {
    const auto score = model.score(ranking->corrections, config);
    if (score) proposals.drawn_.push_back(candidate(*score, Origin::explore));
  }
  std::ranges::reverse(proposals.drawn_);
  return proposals;
}

std::vector<Candidate> Proposals::likely() const {
  // The first of each strategy comes before the others, as in `most_promising`.
  std::vector<Candidate> list = by_model_;
  std::set<Strategy> seen;
  std::stable_partition(list.begin(), list.end(), [&](const Candidate& each) {
    return seen.insert(strategy_of(each.config)).second;
  });
  if (std::ssize(list) > top_k_) list.resize(static_cast<std::size_t>(top_k_));
  list.insert(list.end(), drawn_.begin(), drawn_.end());
  return list;
}

std::optional<Candidate> Proposals::next() {
  if (sequential_) return std::exchange(sequential_, std::nullopt);
  if (auto candidate = most_promising()) {
    candidate->rank_by_model = proposed_++;
    tried_.push_back(candidate->config);
    return candidate;
  }
  enough_ = true;
  while (!drawn_.empty()) {
    Candidate candidate = std::move(drawn_.back());
    drawn_.pop_back();
    const auto same = std::ranges::find(tried_, candidate.config);
    if (same == tried_.end()) return candidate;
  }
  return std::nullopt;
}

std::optional<Candidate> Proposals::most_promising() {
  if (enough_ || proposed_ >= top_k_ || by_model_.empty()) return std::nullopt;
  auto chosen = by_model_.begin();
  if (const auto best_time = best(); proposed_ > 0 && best_time) {
    const ProblemCorrections corrections = model_->around(chosen->problem, chosen->launch);
    const auto most_improving = [&](bool of_new_strategies) {
      double most = kWorthwhile;
      auto found = by_model_.end();
      for (auto each = by_model_.begin(); each != by_model_.end(); ++each) {
        if (of_new_strategies && has_tried(strategy_of(each->config))) continue;
        const auto score = model_->score(corrections, each->config);
        if (!score) continue;
        const double improvement =
            expected_improvement(std::log(*best_time / score->time()), score->correction.deviation);
        if (improvement > most) {
          most = improvement;
          found = each;
        }
      }
      return found;
    };
    // One config of a strategy that may win tells more than another one of a strategy that was
    // tried, of which there are many that are nearly alike.
    chosen = most_improving(true);
    if (chosen == by_model_.end()) chosen = most_improving(false);
    if (chosen == by_model_.end()) return std::nullopt;
  }
  Candidate candidate = std::move(*chosen);
  by_model_.erase(chosen);
  return candidate;
}

bool Proposals::has_tried(Strategy strategy) const {
  return std::ranges::any_of(tried_,
                             [&](const Config& config) { return strategy_of(config) == strategy; });
}

void Proposals::judged(const Candidate& candidate) {
  model_->learn(candidate);
  if (candidate.verdict != Verdict::valid || !candidate.measured) return;
  if (!baseline_) baseline_ = candidate.measured->median;
  measured_.push_back({candidate.config, paired_time(candidate, *baseline_)});
}

void Proposals::ruled_out(const Config& config) {
  std::erase_if(measured_, [&](const Scored& each) { return each.config == config; });
  std::erase_if(by_model_,
                [&](const Candidate& each) { return same_kernels(each.config, config); });
  enough_ = false;
}

std::optional<Microseconds> Proposals::best() const {
  const auto fastest = std::ranges::min_element(measured_, {}, &Scored::time);
  return fastest == measured_.end() ? std::nullopt : std::optional(fastest->time);
}

}  // namespace overlaptune
