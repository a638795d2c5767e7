#include "model/strategy.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <string>

namespace overlaptune {

double BestConfigs::limit() const {
  return scored_.size() < wanted_ ? std::numeric_limits<double>::infinity()
                                  : scored_.back().time.count();
}

void BestConfigs::offer(Scored scored) {
  if (scored.time.count() >= limit()) return;
  const auto at =
      std::upper_bound(scored_.begin(), scored_.end(), scored,
                       [](const Scored& a, const Scored& b) { return a.time < b.time; });
  scored_.insert(at, std::move(scored));
  if (scored_.size() > wanted_) scored_.pop_back();
}

double BestConfigs::first() const {
  return scored_.empty() ? std::numeric_limits<double>::infinity() : scored_.front().time.count();
}

void BestConfigs::replace(const std::function<bool(const Config&)>& same, Scored scored) {
  const auto found = std::find_if(scored_.begin(), scored_.end(),
                                  [&](const Scored& other) { return same(other.config); });
  if (found != scored_.end()) scored_.erase(found);
  offer(std::move(scored));
}

std::span<const StrategyModel> strategy_models() {
  static constexpr std::array<StrategyModel, 3> kModels{{
      {Strategy::sequential, predict_sequential, search_sequential},
      {Strategy::signaled, predict_signaled, search_signaled},
      {Strategy::chunked, predict_chunked, search_chunked},
  }};
  return kModels;
}

Company company_of(const Model::Parts& parts, const Problem& problem) {
  const Curve* curve = parts.collectives.find({collective_of(problem.op), problem.ranks});
  const auto bytes = static_cast<double>(collective_bytes(problem).count);
  return {.gemm = parts.library.time(problem.m, problem.n, problem.k, parts.platform.sms),
          .collective = curve == nullptr ? 0 : (*curve)(bytes)};
}

Expected<const Curve*> probed_curve(const Model::Parts& parts, const Problem& problem,
                                    const Config& config) {
  const Collective collective = collective_of(problem.op);
  const Curve* curve =
      parts.collectives.find({collective, problem.ranks, config.comm_ctas, config.transport});
  if (curve == nullptr) {
    return bad_input("model: no " + std::string(to_string(collective)) + " on " +
                     std::to_string(problem.ranks) + " ranks with " +
                     (config.comm_ctas > 0 ? std::to_string(config.comm_ctas) + " CTAs"
                                           : std::string("the library's default CTAs")) +
                     " by " + std::string(to_string(config.transport)) +
                     " is stored for this platform: run `overlaptune probe --ranks " +
                     std::to_string(problem.ranks) + "` first");
  }
  return curve;
}

}  // namespace overlaptune
