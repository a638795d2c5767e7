#include "model/best_configs.hpp"

#include <algorithm>
#include <limits>

namespace overlaptune {

double BestConfigs::limit() const {
  return scored_.size() < wanted_ ? std::numeric_limits<double>::infinity()
                                  : scored_.back().time.count();
}

void BestConfigs::offer(Scored scored) {
  if (scored.time.count() >= limit()) return;
  const auto at = std::ranges::upper_bound(scored_, scored.time, {}, &Scored::time);
  scored_.insert(at, std::move(scored));
  if (scored_.size() > wanted_) scored_.pop_back();
}

double BestConfigs::first() const {
  return scored_.empty() ? std::numeric_limits<double>::infinity() : scored_.front().time.count();
}

void BestConfigs::replace(const std::function<bool(const Config&)>& same, Scored scored) {
  const auto found = std::ranges::find_if(scored_, same, &Scored::config);
  if (found != scored_.end()) scored_.erase(found);
  offer(std::move(scored));
}

}  // namespace overlaptune
