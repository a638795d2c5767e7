#pragma once
// Random graphs of tasks, and their best schedules by trying everything.

#include <algorithm>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "planning/schedules/schedule.hpp"

namespace overlaptune {

struct GraphKind {
  int tasks = 8;
  int longest = 6;         ///< tasks take 1 to so many microseconds
  bool contention = true;  ///< factors above 1
  int chains = 0;  ///< 0: tasks wait for any others; else each one for the last of its chain
};

/// Whether a task waits for another one, maybe over others.
inline bool waits_for(const TaskGraph& graph, int task, int other) {
  const auto& after = graph.tasks[std::size_t(task)].after;
  return std::any_of(after.begin(), after.end(), [&](int before) {
    return before == other || waits_for(graph, before, other);
  });
}

/// Whether a task waits for another one also over a third.
inline bool has_one_between(const TaskGraph& graph, int task, int other) {
  const auto& after = graph.tasks[std::size_t(task)].after;
  return std::any_of(after.begin(), after.end(),
                     [&](int before) { return waits_for(graph, before, other); });
}

inline TaskGraph random_graph(std::mt19937& random, const GraphKind& kind) {
  const auto dice = [&](int sides) { return static_cast<int>(random() % unsigned(sides)); };
  TaskGraph graph;
  std::vector<int> last_of_chain(std::size_t(kind.chains), -1);
  for (int i = 0; i < kind.tasks; ++i) {
    Task task{.name = "t" + std::to_string(i)};
    task.kind = task.name;
    task.resource = dice(5) < 3 ? Resource::compute : Resource::links;
    task.us = 1 + dice(kind.longest);
    if (kind.contention && task.resource == Resource::links) {
      task.slows = 1 + 0.1 * dice(4);
      task.slowed = 1 + 0.1 * dice(6);
    }
    if (kind.contention && task.resource == Resource::compute) {
      task.beside_fused = 1 + 0.1 * dice(3);
    }
    for (int other = 0; other < i && kind.chains == 0; ++other) {
      if (dice(kind.tasks) < 2) task.after.push_back(other);
    }
    if (kind.chains > 0) {
      int& last = last_of_chain[std::size_t(dice(kind.chains))];
      if (last >= 0) task.after.push_back(last);
      last = i;
    }
    graph.tasks.push_back(std::move(task));
  }
  for (int i = 0; i < kind.tasks; ++i) {
    for (const int other : graph.tasks[std::size_t(i)].after) {
      const Task& one = graph.tasks[std::size_t(i)];
      const Task& two = graph.tasks[std::size_t(other)];
      if (one.resource == two.resource || dice(2) == 0) continue;
      if (has_one_between(graph, i, other)) continue;
      const bool first = one.resource == Resource::compute;
      const int longer = static_cast<int>(std::max(one.us, two.us));
      const int shorter = static_cast<int>(std::min(one.us, two.us));
      graph.fusions.push_back({.compute = first ? i : other,
                               .links = first ? other : i,
                               .kind = one.name + two.name,
                               .us = double(longer + dice(shorter + 1))});
    }
  }
  return graph;
}

/// Tries, whenever something ends, every start of ready tasks, and waiting for the next end.
class Everything {
 public:
  explicit Everything(const TaskGraph& graph) : graph_(graph) {}

  double least() {
    choose_fusions(0, std::vector<int>(graph_.tasks.size(), -1));
    return least_;
  }

 private:
  struct Item {
    Resource resource{};
    double us = 0;
    double slows = 1;
    double slowed = 1;
    std::vector<std::size_t> after{};
  };
  struct State {
    std::vector<double> left;  ///< of each item
    std::vector<char> started;
    int compute = -1;
    int links = -1;
    double now = 0;
  };

  void choose_fusions(std::size_t next, std::vector<int> fusion_of) {
    if (next == graph_.fusions.size()) {
      run(fusion_of);
      return;
    }
    choose_fusions(next + 1, fusion_of);
    int& compute = fusion_of[std::size_t(graph_.fusions[next].compute)];
    int& links = fusion_of[std::size_t(graph_.fusions[next].links)];
    if (compute >= 0 || links >= 0) return;
    compute = links = static_cast<int>(next);
    choose_fusions(next + 1, std::move(fusion_of));
  }
  void run(const std::vector<int>& fusion_of) {
    items_.clear();
    std::vector<std::size_t> item_of(graph_.tasks.size());
    std::vector<int> of_fusion(graph_.fusions.size(), -1);
    const bool any_fused = std::ranges::any_of(fusion_of, [](int fusion) { return fusion >= 0; });
    for (std::size_t i = 0; i < graph_.tasks.size(); ++i) {
      const int fusion = fusion_of[i];
      if (fusion >= 0 && of_fusion[std::size_t(fusion)] >= 0) {
        item_of[i] = std::size_t(of_fusion[std::size_t(fusion)]);
        continue;
      }
      item_of[i] = items_.size();
      const Task& task = graph_.tasks[i];
      if (fusion < 0) {
        const double us = any_fused ? task.us * task.beside_fused : task.us;
        items_.push_back({task.resource, us, task.slows, task.slowed, {}});
      } else {
        of_fusion[std::size_t(fusion)] = static_cast<int>(items_.size());
        items_.push_back({Resource::both, graph_.fusions[std::size_t(fusion)].us, 1, 1, {}});
      }
    }
    for (std::size_t i = 0; i < graph_.tasks.size(); ++i) {
      for (const int other : graph_.tasks[i].after) {
        if (item_of[std::size_t(other)] != item_of[i]) {
          items_[item_of[i]].after.push_back(item_of[std::size_t(other)]);
        }
      }
    }
    State state;
    for (const Item& item : items_) state.left.push_back(item.us);
    state.started.assign(items_.size(), 0);
    explore(state);
  }
  void explore(const State& state) {
    if (state.now >= least_) return;
    bool all = true;
    for (std::size_t i = 0; i < items_.size(); ++i) {
      all = all && state.left[i] <= 0;
      if (state.started[i] != 0) continue;
      const Item& item = items_[i];
      const bool ready = std::all_of(item.after.begin(), item.after.end(),
                                     [&](std::size_t other) { return state.left[other] <= 0; });
      if (!ready || (item.resource != Resource::links && state.compute >= 0) ||
          (item.resource != Resource::compute && state.links >= 0)) {
        continue;
      }
      State next = state;
      next.started[i] = 1;
      if (item.resource != Resource::links) next.compute = static_cast<int>(i);
      if (item.resource != Resource::compute) next.links = static_cast<int>(i);
      explore(next);
    }
    if (all) least_ = std::min(least_, state.now);
    if (state.compute < 0 && state.links < 0) return;
    State next = state;
    const bool two = next.compute >= 0 && next.links >= 0 && next.compute != next.links;
    const Item* other = two ? &items_[std::size_t(next.links)] : nullptr;
    const double rate = two ? 1 / other->slows : 1;
    const double links_rate = two ? 1 / other->slowed : 1;
    double step = std::numeric_limits<double>::infinity();
    if (next.compute >= 0) step = next.left[std::size_t(next.compute)] / rate;
    if (next.links >= 0) step = std::min(step, next.left[std::size_t(next.links)] / links_rate);
    next.now += step;
    const auto advance = [&](int& which, double speed) {
      if (which < 0) return;
      double& left = next.left[std::size_t(which)];
      left -= step * speed;
      if (left < 1e-9) {
        left = 0;
        which = -1;
      }
    };
    const bool fused = next.compute >= 0 && next.compute == next.links;
    advance(next.compute, rate);
    if (fused) {
      next.links = next.compute;
    } else {
      advance(next.links, links_rate);
    }
    explore(next);
  }

  const TaskGraph& graph_;
  std::vector<Item> items_{};
  double least_ = std::numeric_limits<double>::infinity();
};

/// Checks a schedule by itself: each task once, after those that it waits for, alone on its
/// resources, and as long as its work takes at the rates of what runs beside it.
inline void expect_sound(const TaskGraph& graph, const Schedule& schedule) {
  std::vector<const Placed*> of_task(graph.tasks.size(), nullptr);
  const auto put = [&](int task, const Placed& placed) {
    ASSERT_EQ(of_task[std::size_t(task)], nullptr) << "twice";
    of_task[std::size_t(task)] = &placed;
  };
  double end = 0;
  for (const Placed& placed : schedule.placed) {
    put(placed.task, placed);
    if (placed.fusion >= 0) put(graph.fusions[std::size_t(placed.fusion)].links, placed);
    end = std::max(end, placed.end_us);
  }
  EXPECT_NEAR(schedule.us, end, 1e-9);
  const auto resource = [&](const Placed& placed) {
    return placed.fusion >= 0 ? Resource::both : graph.tasks[std::size_t(placed.task)].resource;
  };
  for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
    ASSERT_NE(of_task[i], nullptr) << graph.tasks[i].name;
    for (const int other : graph.tasks[i].after) {
      const Placed* before = of_task[std::size_t(other)];
      if (before == of_task[i]) continue;
      EXPECT_LE(before->end_us, of_task[i]->start_us + 1e-9);
    }
  }
  const bool any_fused =
      std::ranges::any_of(schedule.placed, [](const Placed& placed) { return placed.fusion >= 0; });
  for (const Placed& one : schedule.placed) {
    double beside = 0;  // work that is lost to what runs beside it
    for (const Placed& two : schedule.placed) {
      const double shared = std::min(one.end_us, two.end_us) - std::max(one.start_us, two.start_us);
      if (&one == &two || shared <= 1e-9) continue;
      EXPECT_NE(resource(one), Resource::both);
      EXPECT_NE(resource(one), resource(two));
      const Task& mine = graph.tasks[std::size_t(one.task)];
      const double factor =
          mine.resource == Resource::links ? mine.slowed : graph.tasks[std::size_t(two.task)].slows;
      beside += shared * (1 - 1 / factor);
    }
    const Task& alone = graph.tasks[std::size_t(one.task)];
    const double work = one.fusion >= 0 ? graph.fusions[std::size_t(one.fusion)].us
                        : any_fused     ? alone.us * alone.beside_fused
                                        : alone.us;
    EXPECT_NEAR(one.end_us - one.start_us, work + beside, 1e-6);
  }
}

}  // namespace overlaptune
