#include "planning/schedules/task_graph.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <initializer_list>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "core/base/index.hpp"
#include "core/base/text.hpp"
#include "json/asked_fields.hpp"
#include "json/parse.hpp"
#include "json/reader.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kLongestName = 80;
constexpr const char* kRootFields = "tasks, fusions";
constexpr const char* kTaskFields =
    "name, resource, us, after, slows, slowed, beside_fused, kind, cost_source, low_us, high_us, "
    "work, amount, dtype";
constexpr const char* kFusionFields = "compute, links, us, cost_source, low_us, high_us";

class GraphReader {
 public:
  explicit GraphReader(const JsonReader& root) : root_(root) {}

  TaskGraph read() {
    const JsonReader tasks = root_["tasks"];
    tasks.each([&](const JsonReader& at) { add_task(at); });
    if (graph_.tasks.empty()) tasks.fail("expected at least one task, found none");
    std::size_t next = 0;
    tasks.each([&](const JsonReader& at) {
      Task& task = graph_.tasks[next++];
      if (!at.has("after")) return;
      const JsonReader after = at["after"];
      after.each([&](const JsonReader& name) { task.after.push_back(index_of(name)); });
      std::sort(task.after.begin(), task.after.end());
      task.after.erase(std::unique(task.after.begin(), task.after.end()), task.after.end());
    });
    if (root_.has("fusions")) {
      const JsonReader fusions = root_["fusions"];
      fusions.each([&](const JsonReader& at) { add_fusion(at); });
    }
    return std::move(graph_);
  }

 private:
  /// A factor of tasks on one resource; graphs that this program wrote have 1 in other ones.
  static double factor(const JsonReader& at, const Task& task, Resource on) {
    const double value = at.number(1, kMostTaskFactor);
    if (value > 1 && task.resource != on) {
      at.fail(fmt::format("a factor of tasks on {}: expected none beside resource {}",
                          to_string(on), to_string(task.resource)));
    }
    return value;
  }

  /// Fields that this program printed beside a time, and that say nothing of the schedule.
  static void pass_over(const JsonReader& at, std::initializer_list<const char*> fields) {
    for (const char* field : fields) (void)at.has(field);
  }

  void add_task(const JsonReader& at) {
    pass_over(at, {"low_us", "high_us", "work", "amount", "dtype"});
    const JsonReader name = at["name"];
    Task task{.name = name.text(), .source = "given"};
    task.traffic = task.name;
    task.kind = at.has("kind") ? at["kind"].text() : task.name;
    if (at.has("cost_source")) task.source = at["cost_source"].text();
    task.us = at["us"].number(0, kMostTaskUs);
    const JsonReader resource = at["resource"];
    task.resource = resource.name<Resource>();
    if (at.has("slows")) task.slows = factor(at["slows"], task, Resource::links);
    if (at.has("slowed")) task.slowed = factor(at["slowed"], task, Resource::links);
    if (at.has("beside_fused")) {
      task.beside_fused = factor(at["beside_fused"], task, Resource::compute);
    }
    if (!names_.emplace(task.name, static_cast<int>(graph_.tasks.size())).second) {
      name.fail("'" + task.name + "' is there twice: expected each name once");
    }
    graph_.tasks.push_back(std::move(task));
  }
  void add_fusion(const JsonReader& at) {
    pass_over(at, {"low_us", "high_us"});
    Fusion fusion;
    const JsonReader compute = at["compute"];
    const JsonReader links = at["links"];
    fusion.compute = index_of(compute);
    fusion.links = index_of(links);
    const auto kind = [&](int task) { return graph_.tasks[index(task)].kind; };
    fusion.kind = kind(fusion.compute) + " + " + kind(fusion.links);
    fusion.us = at["us"].number(0, kMostTaskUs);
    fusion.source = at.has("cost_source") ? at["cost_source"].text() : "given";
    graph_.fusions.push_back(std::move(fusion));
  }
  [[nodiscard]] int index_of(const JsonReader& name) const {
    const auto found = names_.find(name.text());
    if (found == names_.end()) name.fail("no task '" + name.text() + "'");
    return found->second;
  }

  const JsonReader& root_;
  TaskGraph graph_;
  std::map<std::string, int> names_;
};

/// Whether a field of the root speaks of tasks, of fusions or of what waits for what, though it has
/// none of the names that are read. A plan has no such field.
bool speaks_of_graph(std::string_view complaint) {
  constexpr std::array<std::string_view, 5> kBeginnings{"task", "fus", "depend", "after", "edge"};
  const std::string name = lower_case(std::string(complaint.substr(0, complaint.find(':'))));
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

[[noreturn]] void bad_graph(std::string_view origin, const std::string& message) {
  throw Failure(ErrorKind::bad_input, fmt::format("{}: {}", origin, message));
}

/// Throws: a field of the graph that is null. A reader takes it for absent: a task would wait for
/// nothing.
void refuse_nulls(const nlohmann::json& document, std::string_view origin) {
  const auto refuse = [&](const nlohmann::json& value, const std::string& place) {
    if (value.is_null()) bad_graph(origin, place + " is null: expected a value, or no such field");
  };
  if (!document.is_object()) return;
  for (const char* part : {"tasks", "fusions"}) {
    if (!document.contains(part)) continue;
    refuse(document[part], part);
    std::size_t index = 0;
    for (const auto& element : document[part]) {
      const std::string place = fmt::format("{}[{}].", part, index++);
      if (!element.is_object()) continue;
      for (const auto& [name, value] : element.items()) {
        refuse(value, place + one_line(name, kLongestName));
      }
    }
  }
}

}  // namespace

std::vector<int> in_order(const TaskGraph& graph) {
  std::vector<std::vector<int>> next(graph.tasks.size());
  std::vector<std::size_t> waits;
  std::vector<int> order;
  for (int task = 0; task < static_cast<int>(graph.tasks.size()); ++task) {
    const auto& after = graph.tasks[index(task)].after;
    waits.push_back(after.size());
    if (after.empty()) order.push_back(task);
    for (const int before : after) next[index(before)].push_back(task);
  }
  for (std::size_t i = 0; i < order.size(); ++i) {
    for (const int task : next[index(order[i])]) {
      if (--waits[index(task)] == 0) order.push_back(task);
    }
  }
  return order;
}

double saved(const TaskGraph& graph, const Fusion& fusion) {
  const Task& compute = graph.tasks[index(fusion.compute)];
  const Task& links = graph.tasks[index(fusion.links)];
  return compute.us * compute.beside_fused + links.us - fusion.us;
}

std::vector<const Fusion*> best_fusions(const TaskGraph& graph) {
  std::vector<const Fusion*> best;
  for (const Fusion& fusion : graph.fusions) {
    if (saved(graph, fusion) > 0) best.push_back(&fusion);
  }
  std::ranges::stable_sort(best, std::greater{},
                           [&](const Fusion* each) { return saved(graph, *each); });
  std::vector<char> taken(graph.tasks.size(), 0);
  std::erase_if(best, [&](const Fusion* fusion) {
    char& compute = taken[index(fusion->compute)];
    char& links = taken[index(fusion->links)];
    if (compute != 0 || links != 0) return true;
    compute = links = 1;
    return false;
  });
  return best;
}

double ideal_us(const TaskGraph& graph) {
  std::vector<double> fastest;
  fastest.reserve(graph.tasks.size());
  for (const Task& task : graph.tasks) fastest.push_back(task.us);
  for (const Fusion& fusion : graph.fusions) {
    for (const int task : {fusion.compute, fusion.links}) {
      double& us = fastest[index(task)];
      us = std::min(us, fusion.us);
    }
  }
  std::array<double, 3> sums{};
  for (std::size_t i = 0; i < fastest.size(); ++i) {
    sums[static_cast<std::size_t>(graph.tasks[i].resource)] += fastest[i];
  }
  return std::max(sums[0], sums[1]) + sums[2];
}

Expected<TaskGraph> parse_task_graph(std::string_view text, std::string_view origin) {
  return outcome_of([&] {
    const nlohmann::json document = parse_unique_json(text, origin);
    refuse_nulls(document, origin);
    AskedFields asked;
    const JsonReader root(document, origin, &asked);
    TaskGraph graph = GraphReader(root).read();
    // A graph that this program wrote has the plan beside it. A name that is near to one of the
    // graph's is not of the plan.
    const bool planned = root.has("scheduled_us");
    for (const std::string& complaint : asked.complaints(document)) {
      const bool in_graph = complaint.starts_with("tasks[") || complaint.starts_with("fusions[");
      const bool is_misspelt = complaint.find("did you mean") != complaint.npos;
      if (planned && !in_graph && !is_misspelt && !speaks_of_graph(complaint)) continue;
      bad_graph(origin, fmt::format("{} (fields: {})", complaint,
                                    complaint.starts_with("tasks[")     ? kTaskFields
                                    : complaint.starts_with("fusions[") ? kFusionFields
                                                                        : kRootFields));
    }
    if (const auto checked = check(graph); !checked) bad_graph(origin, checked.error().message);
    return graph;
  });
}

}  // namespace overlaptune
