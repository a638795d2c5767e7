#include "planning/schedules/schedule_search.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <set>
#include <span>
#include <utility>

namespace overlaptune {
namespace {

constexpr double kBetter = 1 - 1e-9;  // rounding is no gain

/// A choice of fusions that close no cycle.
struct Sound {
  std::vector<char> fused{};
  std::optional<Nodes> nodes{};
};

/// Adds fusions, all at once where they go together, else half by half.
void add(const TaskGraph& graph, std::span<const std::size_t> wanted, Sound& sound) {
  if (wanted.empty()) return;
  for (const std::size_t each : wanted) sound.fused[each] = 1;
  if (auto more = Nodes::make(graph, sound.fused)) {
    sound.nodes = std::move(more);
    return;
  }
  for (const std::size_t each : wanted) sound.fused[each] = 0;
  if (wanted.size() == 1) return;
  add(graph, wanted.first(wanted.size() / 2), sound);
  add(graph, wanted.subspan(wanted.size() / 2), sound);
}

/// The fusions that the policy wants and that go together.
Sound chosen(const TaskGraph& graph, const Policy& policy) {
  std::vector<std::size_t> wanted;
  std::vector<char> taken(graph.tasks.size(), 0);
  for (std::size_t i = 0; i < graph.fusions.size(); ++i) {
    const Fusion& fusion = graph.fusions[i];
    const auto found = policy.fused.find(fusion.kind);
    char& compute = taken[static_cast<std::size_t>(fusion.compute)];
    char& links = taken[static_cast<std::size_t>(fusion.links)];
    if (found == policy.fused.end() || !found->second || compute != 0 || links != 0) continue;
    compute = links = 1;
    wanted.push_back(i);
  }
  Sound sound{.fused = std::vector<char>(graph.fusions.size(), 0)};
  add(graph, wanted, sound);
  if (!sound.nodes) sound.nodes = Nodes::make(graph, sound.fused);
  return sound;
}

/// The tasks under a policy, by critical path.
Scheduled schedule(const TaskGraph& graph, const Sound& sound, const Policy& policy) {
  Scheduled made{.fused = sound.fused, .keys = sound.nodes->tails()};
  for (std::size_t i = 0; i < made.keys.size(); ++i) {
    if (!policy.earlier.empty()) {
      const auto earlier = policy.earlier.find(graph.tasks[i].kind);
      if (earlier != policy.earlier.end()) made.keys[i] += earlier->second;
    }
    made.keys[i] = -made.keys[i];
  }
  made.schedule = sound.nodes->list_schedule(made.keys);
  return made;
}

/// No schedule is shorter; 0 where fusions make that hard to say.
double lower_bound(const TaskGraph& graph) {
  if (!graph.fusions.empty()) return 0;
  const std::vector<double> tails = Nodes::make(graph, {})->tails();
  return std::max(*std::max_element(tails.begin(), tails.end()), ideal_us(graph));
}

/// Tries policies on one graph and remembers the best one.
class Trials {
 public:
  Trials(const TaskGraph& graph, Policy start, int most)
      : graph_(graph),
        bound_(lower_bound(graph)),
        sound_(chosen(graph, start)),
        fused_(start.fused),
        best_(std::move(start)),
        left_(most) {
    us_ = schedule(graph_, sound_, best_).schedule.us;
  }
  /// No trials are left, or none can be better.
  [[nodiscard]] bool over() const { return left_ <= 0 || us_ <= bound_ / kBetter; }
  [[nodiscard]] const Policy& best() const { return best_; }
  bool offer(const Policy& policy) {
    if (over()) return false;
    --left_;
    if (policy.fused != fused_) {
      sound_ = chosen(graph_, policy);
      fused_ = policy.fused;
    }
    const double us = schedule(graph_, sound_, policy).schedule.us;
    if (us >= us_ * kBetter) return false;
    us_ = us;
    best_ = policy;
    return true;
  }

 private:
  const TaskGraph& graph_;
  double bound_ = 0;
  Sound sound_;                          ///< of the last policy that was tried
  std::map<std::string, bool> fused_{};  ///< those that it chose
  Policy best_;
  int left_ = 0;
  double us_ = 0;
};

}  // namespace

Scheduled apply(const TaskGraph& graph, const Policy& policy) {
  return schedule(graph, chosen(graph, policy), policy);
}

Policy search_policy(const TaskGraph& graph, Policy start, int trials) {
  std::set<std::string> kinds;
  std::set<std::string> fusions;
  double longest = 0;
  for (const Task& task : graph.tasks) {
    kinds.insert(task.kind);
    longest = std::max(longest, task.us);
  }
  for (const Fusion& fusion : graph.fusions) fusions.insert(fusion.kind);
  Trials tried(graph, std::move(start), trials);

  const auto flip_fusions = [&](Trials& of) {
    bool better = false;
    for (const std::string& kind : fusions) {
      Policy policy = of.best();
      policy.fused[kind] = !policy.fused[kind];
      better |= of.offer(policy);
    }
    return better;
  };
  while (flip_fusions(tried)) {
  }
  // The first fusion slows all other GEMMs, so that several may pay where none does by itself: all
  // together, less those without which they take less time.
  Policy together = tried.best();
  for (const Fusion* fusion : best_fusions(graph)) together.fused[fusion->kind] = true;
  Trials all(graph, std::move(together), trials / 2);
  while (flip_fusions(all)) {
  }
  tried.offer(all.best());
  for (const std::string& kind : kinds) {
    for (const double factor : {-8.0, -2.0, -0.5, 0.5, 2.0, 8.0}) {
      Policy policy = tried.best();
      policy.earlier[kind] = factor * longest;
      tried.offer(policy);
    }
  }
  const std::vector<std::string> list(kinds.begin(), kinds.end());
  const std::vector<std::string> pairs(fusions.begin(), fusions.end());
  std::mt19937_64 random(7);  // NOLINT(bugprone-random-generator-seed,cert-msc51-cpp)
  while (!tried.over()) {
    Policy policy = tried.best();
    for (int change = 0; change < 2; ++change) {
      if (!pairs.empty() && random() % 3 == 0) {
        bool& fused = policy.fused[pairs[random() % pairs.size()]];
        fused = !fused;
      } else {
        const double share = static_cast<double>(random() % 1001) / 500 - 1;
        policy.earlier[list[random() % list.size()]] = 8 * share * std::abs(share) * longest;
      }
    }
    tried.offer(policy);
  }
  return tried.best();
}

Scheduled search_order(const TaskGraph& graph, Scheduled start, int trials) {
  const std::size_t tasks = graph.tasks.size();
  Scheduled best = start;
  const double bound = lower_bound(graph);
  // Keys by the starts: what is changed is the order that list scheduling has found.
  const auto by_start = [&](Scheduled& each) {
    for (const Placed& placed : each.schedule.placed) {
      each.keys[static_cast<std::size_t>(placed.task)] = placed.start_us;
      if (placed.fusion < 0) continue;
      const Fusion& fusion = graph.fusions[static_cast<std::size_t>(placed.fusion)];
      each.keys[static_cast<std::size_t>(fusion.links)] = placed.start_us;
    }
  };
  const bool contention = std::any_of(graph.tasks.begin(), graph.tasks.end(), [](const Task& task) {
    return task.slows > 1 || task.slowed > 1;
  });
  constexpr int kStarts = 3;
  constexpr std::size_t kMostHolds = 2;
  std::mt19937_64 random(11);  // NOLINT(bugprone-random-generator-seed,cert-msc51-cpp)
  for (int run = 0; run < kStarts; ++run) {
    Scheduled now = run == 0 ? start : best;
    by_start(now);
    auto nodes = Nodes::make(graph, now.fused, now.holds);
    const double hot = 0.03 * best.schedule.us;
    const int steps = trials / kStarts;
    for (int step = 0; step < steps && best.schedule.us > bound / kBetter; ++step) {
      Scheduled next{.fused = now.fused, .keys = now.keys, .holds = now.holds};
      std::optional<Nodes> changed;
      if (!graph.fusions.empty() && random() % 5 == 0) {
        char& fused = next.fused[random() % next.fused.size()];
        fused = fused == 0 ? 1 : 0;
        changed = Nodes::make(graph, next.fused, next.holds);
        if (!changed) continue;
      } else if (contention && random() % 5 == 0) {
        if (next.holds.size() == kMostHolds || (!next.holds.empty() && random() % 2 == 0)) {
          next.holds.erase(next.holds.begin());
        } else {
          next.holds.push_back(
              {static_cast<int>(random() % tasks), static_cast<int>(random() % tasks)});
        }
        changed = Nodes::make(graph, next.fused, next.holds);
        if (!changed) continue;
      } else {
        // A task goes just before or after another one.
        const double nudge = random() % 2 == 0 ? 1e-7 : -1e-7;
        next.keys[random() % tasks] =
            now.keys[random() % tasks] + nudge * static_cast<double>(1 + random() % 1000);
      }
      const Nodes& used = changed ? *changed : *nodes;
      next.schedule = random() % 4 == 0 ? used.list_schedule(next.keys) : used.in_order(next.keys);
      const double worse = next.schedule.us - now.schedule.us;
      const double temperature = hot * (1 - static_cast<double>(step) / steps);
      const double dice = static_cast<double>(random() % 1'000'000 + 1) / 1e6;
      if (worse > 0 && dice > std::exp(-worse / std::max(temperature, 1e-12))) continue;
      now = std::move(next);
      if (changed) nodes = std::move(changed);
      if (now.schedule.us < best.schedule.us * kBetter) best = now;
    }
  }
  return best;
}

}  // namespace overlaptune
