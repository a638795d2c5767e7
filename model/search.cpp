#include "model/search.hpp"

#include <algorithm>
#include <limits>

#include "core/config/config_fields.hpp"
#include "core/config/tiling.hpp"
#include "model/parts.hpp"
#include "model/strategy_model.hpp"

namespace overlaptune {
namespace {

/// Sets fields of one config to what they are in another config of the same strategy.
template <class... Fields>
void copy_fields(const Config& from, Config& to) {
  const auto copy = [&]<class Field>(Field) {
    with_field<Field>(to, [&](auto& value) {
      with_field<Field>(from, [&](const auto& other) {
        if constexpr (requires { value = other; }) value = other;
      });
    });
  };
  (copy(Fields{}), ...);
}

/// The config with the fields of which the model knows little at their defaults. Two configs with
/// the same outline are so similar that one error of the model hits both.
Config outline(Config config) {
  copy_fields<config_field::Stages, config_field::Cluster, config_field::Swizzle,
              config_field::WaveGroups, config_field::Wait>(default_config(strategy_of(config)),
                                                            config);
  return config;
}

}  // namespace

double BestConfigs::limit() const {
  return scored_.size() < wanted_ ? std::numeric_limits<double>::infinity()
                                  : scored_.back().time.count();
}

void BestConfigs::offer(Scored scored) {
  if (scored.time.count() >= limit()) return;
  const bool is_baseline = strategy_of(scored.config) == kBaseline;
  if (accepts_ && !is_baseline && !accepts_(scored.config)) return;
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

bool in_subset(const Tile& tile, const Problem& problem, int sms, const GpuLimits& limits) {
  Tile alone = tile;
  alone.cluster = 1;
  Tile deeper = tile;
  ++deeper.stages;
  const bool shared =
      ctas_per_tile(tile_order(problem, alone, 1), alone, problem.k, sms, limits) > 1;
  return (tile.cluster == 1 || (tile.cluster == limits.largest_cluster && !shared)) &&
         !is_feasible(deeper, limits, problem.elements);
}

bool considers(const SearchOptions& options, Strategy strategy) {
  const std::vector<Strategy>& list = options.strategies;
  return list.empty() || std::find(list.begin(), list.end(), strategy) != list.end();
}

Expected<std::vector<Scored>> search(const Model& model, const Problem& problem, Launch launch,
                                     const SearchOptions& options) {
  const Model::Parts& parts = model.parts();
  BestConfigs baseline(1);
  model_of(kBaseline).search(parts, problem, launch, options.space, baseline);
  std::vector<Scored> sequential = std::move(baseline).take();
  if (sequential.empty()) {
    const auto why = model.predict(problem, Config{}, launch);
    return why ? bad_input("model: sequential cannot be predicted") : error_of(why);
  }
  BestConfigs best(std::max(1, options.best), options.stop, options.accepts);
  best.offer(sequential.front());
  for (const StrategyModel* strategy : strategy_models()) {
    const StrategyTraits& traits = traits_of(strategy->strategy());
    if (traits.strategy != kBaseline && traits.ops.contains(problem.op) &&
        parts.capabilities.strategies.contains(traits.strategy) &&
        considers(options, traits.strategy)) {
      strategy->search(parts, problem, launch, options.space, best);
    }
  }
  return std::move(best).take();
}

std::vector<Scored> shortlist(const std::vector<Scored>& scored, int size) {
  std::vector<Scored> taken;
  std::vector<Config> outlines;
  std::vector<const Scored*> passed_over;
  for (const Scored& candidate : scored) {
    if (static_cast<int>(taken.size()) >= size) return taken;
    Config kind = outline(candidate.config);
    if (std::find(outlines.begin(), outlines.end(), kind) == outlines.end()) {
      outlines.push_back(std::move(kind));
      taken.push_back(candidate);
    } else {
      passed_over.push_back(&candidate);
    }
  }
  for (const Scored* candidate : passed_over) {
    if (static_cast<int>(taken.size()) >= size) break;
    taken.push_back(*candidate);
  }
  return taken;
}

}  // namespace overlaptune
