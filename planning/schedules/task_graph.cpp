#include "planning/schedules/task_graph.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <initializer_list>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "json/asked_fields.hpp"
#include "json/parse.hpp"
#include "json/reader.hpp"
#include "planning/schedules/fusion_check.hpp"

namespace overlaptune {
namespace {

constexpr double kMostUs = 1e12;
constexpr std::size_t kLongestName = 80;
constexpr double kMostFactor = 100;
constexpr const char* kRootFields = "tasks, fusions";
constexpr const char* kTaskFields =
    "name, resource, us, after, slows, slowed, beside_fused, kind, cost_source, low_us, high_us, "
    "work, amount";
constexpr const char* kFusionFields = "compute, links, us, cost_source, low_us, high_us";

bool is_in(double value, double least, double most) {
  return std::isfinite(value) && value >= least && value <= most;
}

Expected<void> check_task(const Task& task, int count) {
  if (!is_in(task.us, 0, kMostUs)) {
    return bad_input(fmt::format("task '{}': {} us: expected 0 to 10^12", task.name, task.us));
  }
  for (const double factor : {task.slows, task.slowed, task.beside_fused}) {
    if (is_in(factor, 1, kMostFactor)) continue;
    return bad_input(
        fmt::format("task '{}': a factor of {}: expected 1 to {}", task.name, factor, kMostFactor));
  }
  for (const int other : task.after) {
    if (other < 0 || other >= count) {
      return bad_input(
          fmt::format("task '{}': after task {}, which does not exist", task.name, other));
    }
  }
  return {};
}

/// A task of a cycle, or -1 where there is none.
int task_in_cycle(const TaskGraph& graph) {
  enum class Colour { white, open, done };
  std::vector<Colour> colours(graph.tasks.size(), Colour::white);
  std::vector<std::pair<int, std::size_t>> path;
  for (std::size_t first = 0; first < graph.tasks.size(); ++first) {
    if (colours[first] != Colour::white) continue;
    path.emplace_back(static_cast<int>(first), 0);
    colours[first] = Colour::open;
    while (!path.empty()) {
      auto& [task, next] = path.back();
      const auto& after = graph.tasks[static_cast<std::size_t>(task)].after;
      if (next == after.size()) {
        colours[static_cast<std::size_t>(task)] = Colour::done;
        path.pop_back();
        continue;
      }
      const int other = after[next++];
      Colour& colour = colours[static_cast<std::size_t>(other)];
      if (colour == Colour::open) return other;
      if (colour == Colour::white) {
        colour = Colour::open;
        path.emplace_back(other, 0);
      }
    }
  }
  return -1;
}

class GraphReader {
 public:
  explicit GraphReader(const JsonReader& root) : root_(root) {}

  TaskGraph read() {
    const JsonReader tasks = root_["tasks"];
    tasks.each([&](const JsonReader& at) { add_task(at); });
    if (graph_.tasks.empty()) tasks.fail("expected at least one task, found none");
    std::size_t index = 0;
    tasks.each([&](const JsonReader& at) {
      Task& task = graph_.tasks[index++];
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
    const double value = at.number(1, kMostFactor);
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
    pass_over(at, {"low_us", "high_us", "work", "amount"});
    const JsonReader name = at["name"];
    Task task{.name = name.text(), .source = "given"};
    task.traffic = task.name;
    task.kind = at.has("kind") ? at["kind"].text() : task.name;
    if (at.has("cost_source")) task.source = at["cost_source"].text();
    task.us = at["us"].number(0, kMostUs);
    const JsonReader resource = at["resource"];
    task.resource = resource.name<Resource>();
    if (at.has("slows")) task.slows = factor(at["slows"], task, Resource::links);
    if (at.has("slowed")) task.slowed = factor(at["slowed"], task, Resource::links);
    if (at.has("beside_fused")) {
      task.beside_fused = factor(at["beside_fused"], task, Resource::compute);
    }
    const auto index = static_cast<int>(graph_.tasks.size());
    if (!names_.emplace(task.name, index).second) {
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
    const auto kind = [&](int task) { return graph_.tasks[static_cast<std::size_t>(task)].kind; };
    fusion.kind = kind(fusion.compute) + " + " + kind(fusion.links);
    fusion.us = at["us"].number(0, kMostUs);
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
  std::string name(complaint.substr(0, complaint.find(':')));
  std::transform(name.begin(), name.end(), name.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return std::any_of(kBeginnings.begin(), kBeginnings.end(),
                     [&](std::string_view beginning) { return name.starts_with(beginning); });
}

/// Throws: a field of the graph that is null. A reader takes it for absent: a task would wait for
/// nothing.
void refuse_nulls(const nlohmann::json& document, std::string_view origin) {
  const auto refuse = [&](const nlohmann::json& value, const std::string& place) {
    if (!value.is_null()) return;
    throw Failure(ErrorKind::bad_input,
                  fmt::format("{}: {} is null: expected a value, or no such field", origin, place));
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

double saved(const TaskGraph& graph, const Fusion& fusion) {
  const Task& compute = graph.tasks[static_cast<std::size_t>(fusion.compute)];
  const Task& links = graph.tasks[static_cast<std::size_t>(fusion.links)];
  return compute.us * compute.beside_fused + links.us - fusion.us;
}

std::vector<const Fusion*> best_fusions(const TaskGraph& graph) {
  std::vector<const Fusion*> best;
  for (const Fusion& fusion : graph.fusions) {
    if (saved(graph, fusion) > 0) best.push_back(&fusion);
  }
  std::stable_sort(best.begin(), best.end(), [&](const Fusion* a, const Fusion* b) {
    return saved(graph, *a) > saved(graph, *b);
  });
  std::vector<char> taken(graph.tasks.size(), 0);
  std::erase_if(best, [&](const Fusion* fusion) {
    char& compute = taken[static_cast<std::size_t>(fusion->compute)];
    char& links = taken[static_cast<std::size_t>(fusion->links)];
    if (compute != 0 || links != 0) return true;
    compute = links = 1;
    return false;
  });
  return best;
}

Expected<void> check(const TaskGraph& graph) {
  const auto count = static_cast<int>(graph.tasks.size());
  for (const Task& task : graph.tasks) {
    if (const auto checked = check_task(task, count); !checked) return error_of(checked);
  }
  if (const int task = task_in_cycle(graph); task >= 0) {
    return bad_input(fmt::format("task '{}': waits for itself, in a cycle: expected no cycle",
                                 graph.tasks[static_cast<std::size_t>(task)].name));
  }
  return check_fusions(graph);
}

Expected<TaskGraph> parse_task_graph(std::string_view text, std::string_view origin) {
  try {
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
      return bad_input(fmt::format("{}: {} (fields: {})", origin, complaint,
                                   complaint.starts_with("tasks[")     ? kTaskFields
                                   : complaint.starts_with("fusions[") ? kFusionFields
                                                                       : kRootFields));
    }
    if (const auto checked = check(graph); !checked) {
      return bad_input(fmt::format("{}: {}", origin, checked.error().message));
    }
    return graph;
  } catch (const Failure& failure) {
    return bad_input(failure.what());
  }
}

}  // namespace overlaptune
