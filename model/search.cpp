#include "model/search.hpp"

#include <algorithm>

#include "model/strategy.hpp"

namespace overlaptune {
namespace {

/// One error of the model hits both: their difference is one that it hardly feels.
bool alike(const Config& a, const Config& b) {
  return a.strategy == b.strategy && a.comm_ctas == b.comm_ctas && a.transport == b.transport &&
         a.tile.block_m == b.tile.block_m && a.tile.block_n == b.tile.block_n &&
         a.chunks == b.chunks;
}

}  // namespace

Expected<std::vector<Scored>> search(const Model& model, const Problem& problem, Launch launch,
                                     const SearchOptions& options) {
  const Model::Parts& parts = model.parts();
  auto wanted = [&](Strategy strategy) {
    return options.strategies.empty() ||
           std::find(options.strategies.begin(), options.strategies.end(), strategy) !=
               options.strategies.end();
  };
  BestConfigs baseline(1);
  search_sequential(parts, problem, launch, options.space, baseline);
  std::vector<Scored> sequential = std::move(baseline).take();
  if (sequential.empty()) {
    const auto why = probed_curve(parts, problem, Config{});
    return why ? bad_input("model: sequential cannot be predicted")
               : tl::make_unexpected(why.error());
  }
  BestConfigs best(std::max(1, options.best), options.stop);
  best.offer(sequential.front());
  for (const StrategyModel& strategy : strategy_models()) {
    if (strategy.strategy != Strategy::sequential && wanted(strategy.strategy)) {
      strategy.search(parts, problem, launch, options.space, best);
    }
  }
  return std::move(best).take();
}

std::vector<Scored> shortlist(const std::vector<Scored>& scored, int size) {
  std::vector<Scored> taken;
  std::vector<const Scored*> passed_over;
  for (const Scored& candidate : scored) {
    if (static_cast<int>(taken.size()) >= size) return taken;
    const bool new_kind = std::none_of(taken.begin(), taken.end(), [&](const Scored& other) {
      return alike(candidate.config, other.config);
    });
    if (new_kind) {
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
