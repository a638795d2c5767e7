#include "tuner/propose.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "model/search.hpp"

namespace overlaptune {
namespace {

/// Candidates of one problem, each config once.
class CandidateList {
 public:
  CandidateList(const Problem& problem, Launch launch) : problem_(problem), launch_(launch) {}

  void add(const Config& config, Origin origin, std::optional<int> rank, Microseconds predicted) {
    if (!seen_.insert(to_string(config)).second) return;
    list_.push_back({.problem = problem_,
                     .launch = launch_,
                     .config = config,
                     .origin = origin,
                     .rank_by_model = rank,
                     .predicted = predicted});
  }
  [[nodiscard]] std::vector<Candidate> take() && { return std::move(list_); }

 private:
  Problem problem_;
  Launch launch_;
  std::set<std::string> seen_{};
  std::vector<Candidate> list_{};
};

std::optional<int> rank_in(const std::vector<Scored>& taken, const Config& config) {
  const auto found = std::find_if(taken.begin(), taken.end(),
                                  [&](const Scored& each) { return each.config == config; });
  if (found == taken.end()) return std::nullopt;
  return static_cast<int>(found - taken.begin());
}

}  // namespace

Expected<std::vector<Candidate>> propose(const Model& model, const ExploreSpace& space,
                                         const Problem& problem, Launch launch,
                                         const ProposeOptions& options) {
  const auto baseline =
      search(model, problem, launch, {.best = 1, .strategies = {Strategy::sequential}});
  if (!baseline) return error_of(baseline);
  // Near-duplicates are skipped, so the search is asked for more configs than are taken.
  constexpr int kSpare = 8;
  const auto scored =
      search(model, problem, launch, {.best = kSpare * options.top_k, .stop = options.stop});
  if (!scored) return error_of(scored);
  const std::vector<Scored> taken = shortlist(*scored, options.top_k);

  CandidateList list(problem, launch);
  // `sequential` has a rank too if the model puts it among the best.
  const Scored& sequential = baseline->front();
  list.add(sequential.config, Origin::baseline, rank_in(taken, sequential.config), sequential.time);
  for (std::size_t i = 0; i < taken.size(); ++i) {
    list.add(taken[i].config, Origin::shortlist, static_cast<int>(i), taken[i].time);
  }
  for (const Config& config : explore(space, problem, options.explore, options.seed)) {
    const auto prediction = model.predict(problem, config, launch);
    if (prediction) list.add(config, Origin::explore, std::nullopt, prediction->time);
  }
  return std::move(list).take();
}

}  // namespace overlaptune
