#include "reports/plans/step.hpp"

#include <utility>

#include <fmt/format.h>

#include "core/base/readable.hpp"
#include "reports/trace.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kMostChoices = 12;  // in a table; JSON has all

const Task& task_of(const StepPlan& plan, const Placed& placed) {
  return plan.graph.tasks[static_cast<std::size_t>(placed.task)];
}

/// The fusion that runs there; null where it is one task.
const Fusion* fusion_of(const StepPlan& plan, const Placed& placed) {
  if (placed.fusion < 0) return nullptr;
  return &plan.graph.fusions[static_cast<std::size_t>(placed.fusion)];
}

std::string name_of(const StepPlan& plan, const Placed& placed) {
  const Fusion* fusion = fusion_of(plan, placed);
  if (fusion == nullptr) return task_of(plan, placed).name;
  const Task& links = plan.graph.tasks[static_cast<std::size_t>(fusion->links)];
  return task_of(plan, placed).name + " + " + links.name;
}

Resource resource_of(const StepPlan& plan, const Placed& placed) {
  return placed.fusion >= 0 ? Resource::both : task_of(plan, placed).resource;
}

OrderedJson json_of_exposed(const std::map<std::string, double>& exposed) {
  OrderedJson json = OrderedJson::object();
  for (const auto& [traffic, us] : exposed) json[traffic] = us;
  return json;
}

/// A time that was given has no range: how far it may be off is not known here.
void add_range(OrderedJson& json, double us, const Doubt& doubt) {
  if (doubt == Doubt{}) return;
  json["low_us"] = least_us(us, doubt);
  json["high_us"] = most_us(us, doubt);
}

/// Every task alone, in the form that `parse_task_graph` reads.
OrderedJson json_of_tasks(const TaskGraph& graph) {
  OrderedJson list = OrderedJson::array();
  for (const Task& task : graph.tasks) {
    OrderedJson after = OrderedJson::array();
    for (const int before : task.after) {
      after.push_back(graph.tasks[static_cast<std::size_t>(before)].name);
    }
    list.push_back({{"name", task.name},
                    {"kind", task.kind},
                    {"resource", to_string(task.resource)},
                    {"us", task.us},
                    {"after", std::move(after)},
                    {"slows", task.slows},
                    {"slowed", task.slowed},
                    {"cost_source", task.source}});
    if (task.beside_fused > 1) list.back()["beside_fused"] = task.beside_fused;
    add_range(list.back(), task.us, task.doubt);
    if (task.is_gemm) list.back()["dtype"] = to_string(task.elements);
    if (!task.probe) continue;
    list.back()["work"] = to_string(task.probe->work);
    list.back()["amount"] = task.probe->amount;
  }
  return list;
}

/// Every fusion, chosen or not, in the form that `parse_task_graph` reads.
OrderedJson json_of_fusions(const TaskGraph& graph) {
  OrderedJson list = OrderedJson::array();
  for (const Fusion& fusion : graph.fusions) {
    list.push_back({{"compute", graph.tasks[static_cast<std::size_t>(fusion.compute)].name},
                    {"links", graph.tasks[static_cast<std::size_t>(fusion.links)].name},
                    {"us", fusion.us},
                    {"cost_source", fusion.source}});
    add_range(list.back(), fusion.us, fusion.doubt);
  }
  return list;
}

bool has_range(const StepPlan& plan) {
  return plan.sequential.low_us < plan.sequential.high_us;
}

double ratio(double part, double whole) {
  return whole > 0 ? part / whole : 0;
}

Table times_table(const StepPlan& plan) {
  Table table{.name = "times", .columns = columns_of("time, ms:3, speedup:3, exposed ms:3")};
  const bool with_range = has_range(plan);
  if (with_range) table.columns.insert(table.columns.end(), {{"low ms", 3}, {"high ms", 3}});
  double exposed = 0;
  double all = 0;
  for (const auto& [traffic, us] : plan.exposed_us) exposed += us;
  for (const auto& [traffic, us] : plan.sequential_exposed_us) all += us;
  const auto row = [&](const char* name, double us, Cell cell, const TimeRange* range = nullptr) {
    const Cell speedup = us > 0 ? Cell(plan.sequential_us / us) : Cell();
    table.rows.push_back({std::string(name), us / 1e3, speedup, cell});
    if (!with_range) return;
    table.rows.back().push_back(range ? Cell(range->low_us / 1e3) : Cell());
    table.rows.back().push_back(range ? Cell(range->high_us / 1e3) : Cell());
  };
  row("sequential", plan.sequential_us, all / 1e3, &plan.sequential);
  row("overlap by operation", plan.operations_us, {}, &plan.operations);
  row("list scheduling", plan.list_us, {});
  row("scheduled", plan.scheduled_us, exposed / 1e3);
  row("ideal", plan.ideal_us, {});
  return table;
}

}  // namespace

OrderedJson json_of(const StepPlan& plan) {
  OrderedJson phases = OrderedJson::array();
  for (const PhaseTimes& phase : plan.phases) {
    OrderedJson entry{{"phase", to_string(phase.phase)},
                      {"sequential_us", phase.sequential_us},
                      {"scheduled_us", phase.scheduled_us}};
    if (plan.layers > 0) {
      entry["gain_per_layer_us"] = (phase.sequential_us - phase.scheduled_us) / plan.layers;
    }
    phases.push_back(std::move(entry));
  }
  OrderedJson choices = OrderedJson::array();
  for (const ChoiceGain& choice : plan.choices) {
    choices.push_back({{"choice", choice.choice}, {"gain_us", choice.us}});
  }
  OrderedJson nodes = OrderedJson::array();
  for (const Placed& placed : plan.schedule.placed) {
    const Fusion* fusion = fusion_of(plan, placed);
    nodes.push_back({{"name", name_of(plan, placed)},
                     {"resource", to_string(resource_of(plan, placed))},
                     {"start_us", placed.start_us},
                     {"end_us", placed.end_us},
                     {"cost_source", fusion ? fusion->source : task_of(plan, placed).source}});
  }
  OrderedJson json{{"sequential_us", plan.sequential_us}, {"operations_us", plan.operations_us}};
  if (has_range(plan)) {
    json.update({{"sequential_low_us", plan.sequential.low_us},
                 {"sequential_high_us", plan.sequential.high_us},
                 {"operations_low_us", plan.operations.low_us},
                 {"operations_high_us", plan.operations.high_us}});
  }
  json.update(
      {{"list_us", plan.list_us},
       {"scheduled_us", plan.scheduled_us},
       {"ideal_us", plan.ideal_us},
       {"exposed_us", json_of_exposed(plan.exposed_us)},
       {"sequential_exposed_us", json_of_exposed(plan.sequential_exposed_us)},
       {"layers", plan.layers},
       {"bucket_layers", plan.bucket_layers > 0 ? OrderedJson(plan.bucket_layers) : nullptr},
       {"phases", std::move(phases)},
       {"choices", std::move(choices)},
       {"nodes", std::move(nodes)},
       {"tasks", json_of_tasks(plan.graph)},
       {"fusions", json_of_fusions(plan.graph)}});
  return json;
}

std::string headline_of(const StepPlan& plan, std::string_view what) {
  if (!(plan.scheduled_us > 0)) {
    return fmt::format("The operations of {} take no time: {} instead of {}", what,
                       readable(us(plan.scheduled_us)), readable(us(plan.sequential_us)));
  }
  return fmt::format("Overlap makes {} {:.2f} times as fast: {} instead of {}, at best {}", what,
                     ratio(plan.sequential_us, plan.scheduled_us), readable(us(plan.scheduled_us)),
                     readable(us(plan.sequential_us)), readable(us(plan.ideal_us)));
}

std::vector<Table> tables_of(const StepPlan& plan, const std::string& machine) {
  std::vector<Table> tables{times_table(plan)};
  Table exposed{.name = "exposed",
                .columns = columns_of("exposed communication, sequential ms:3, scheduled ms:3")};
  for (const auto& [traffic, us] : plan.sequential_exposed_us) {
    const auto found = plan.exposed_us.find(traffic);
    const double left = found == plan.exposed_us.end() ? 0 : found->second;
    exposed.rows.push_back({traffic, us / 1e3, left / 1e3});
  }
  if (!exposed.rows.empty()) tables.push_back(std::move(exposed));
  Table phases{.name = "phases",
               .columns = columns_of("phase, sequential ms:3, scheduled ms:3, gain %")};
  if (plan.layers > 0) phases.columns.push_back({"gain us a layer"});
  for (const PhaseTimes& phase : plan.phases) {
    const double gain = phase.sequential_us - phase.scheduled_us;
    phases.rows.push_back({cell(phase.phase), phase.sequential_us / 1e3, phase.scheduled_us / 1e3,
                           100 * ratio(gain, phase.sequential_us)});
    if (plan.layers > 0) phases.rows.back().emplace_back(gain / plan.layers);
  }
  if (plan.layers > 0) tables.push_back(std::move(phases));
  Table choices{.name = "choices", .columns = columns_of("choice, gain ms:3, gain %:2")};
  for (const ChoiceGain& choice : plan.choices) {
    if (choices.rows.size() == kMostChoices) break;
    choices.rows.push_back(
        {choice.choice, choice.us / 1e3, 100 * ratio(choice.us, plan.scheduled_us)});
  }
  tables.push_back(std::move(choices));
  for (Table& table : tables) {
    if (!machine.empty()) table = with_column(std::move(table), "machine", machine);
  }
  return tables;
}

std::string trace_of(const StepPlan& plan, std::string_view title) {
  TracedRun run{.name = "scheduled"};
  for (const Placed& placed : plan.schedule.placed) {
    const Resource resource = resource_of(plan, placed);
    const Activity activity{.stream = resource == Resource::links ? 1 : 0,
                            .kind = resource == Resource::links     ? ActivityKind::collective
                                    : task_of(plan, placed).is_gemm ? ActivityKind::gemm
                                                                    : ActivityKind::other,
                            .name = name_of(plan, placed),
                            .start = us(placed.start_us),
                            .end = us(placed.end_us)};
    run.activities.push_back(activity);
    if (resource != Resource::both) continue;
    run.activities.push_back(activity);
    run.activities.back().stream = 1;
    run.activities.back().kind = ActivityKind::collective;
  }
  return chrome_trace({&run, 1}, title);
}

}  // namespace overlaptune
