#include "tests/planning/schedules/schedule_milp.hpp"

#include <Cbc_C_Interface.h>
#include <algorithm>
#include <cmath>
#include <limits>

namespace overlaptune {
namespace {

/// A way to run one task, or two at once.
struct Mode {
  int compute = -1;  ///< the task on each resource
  int links = -1;
  int us = 0;
  int first = 0;  ///< column of a start at 0; the later ones follow

  [[nodiscard]] bool has(int task) const { return compute == task || links == task; }
};

struct Terms {
  std::vector<int> columns{};
  std::vector<double> factors{};
  void add(int column, double factor) {
    columns.push_back(column);
    factors.push_back(factor);
  }
};

class ScheduleProgram {
 public:
  ScheduleProgram(const TaskGraph& graph, int horizon) : graph_(graph), horizon_(horizon) {
    Cbc_setLogLevel(model_, 0);
    for (int i = 0; i < static_cast<int>(graph.tasks.size()); ++i) {
      const Task& task = graph.tasks[static_cast<std::size_t>(i)];
      const bool on_links = task.resource == Resource::links;
      add_mode({on_links ? -1 : i, on_links ? i : -1, static_cast<int>(std::lround(task.us))});
    }
    for (const Fusion& fusion : graph.fusions) {
      add_mode({fusion.compute, fusion.links, static_cast<int>(std::lround(fusion.us))});
    }
    for (int t = 0; t < horizon; ++t) {
      Cbc_addCol(model_, "", 0, 1, 1, 0, 0, nullptr, nullptr);  // whether not all ended by t
      busy_.push_back(columns_++);
    }
  }
  ~ScheduleProgram() { Cbc_deleteModel(model_); }
  ScheduleProgram(const ScheduleProgram&) = delete;
  ScheduleProgram& operator=(const ScheduleProgram&) = delete;

  std::optional<MilpResult> solve(double seconds) {
    for (int i = 0; i < static_cast<int>(graph_.tasks.size()); ++i) add_task(i);
    for (const bool on_links : {false, true}) {
      for (int t = 0; t < horizon_; ++t) add_capacity(on_links, t);
    }
    Cbc_setMaximumSeconds(model_, seconds);
    Cbc_solve(model_);
    if (Cbc_isProvenInfeasible(model_) != 0) {
      return MilpResult{std::numeric_limits<double>::infinity(), true};
    }
    if (Cbc_bestSolution(model_) == nullptr) return std::nullopt;
    return MilpResult{Cbc_getObjValue(model_), Cbc_isProvenOptimal(model_) != 0};
  }

 private:
  void add_mode(Mode mode) {
    mode.first = columns_;
    for (int t = 0; t + mode.us <= horizon_; ++t) {
      Cbc_addCol(model_, "", 0, 1, 0, 1, 0, nullptr, nullptr);
      ++columns_;
    }
    modes_.push_back(mode);
  }
  void row(const Terms& terms, char sense, double side) {
    Cbc_addRow(model_, "", static_cast<int>(terms.columns.size()), terms.columns.data(),
               terms.factors.data(), sense, side);
  }
  /// Starts of a mode from `from` to `to`.
  void add_starts(Terms& terms, const Mode& mode, int from, int to, double factor) const {
    for (int t = std::max(from, 0); t <= std::min(to, horizon_ - mode.us); ++t) {
      terms.add(mode.first + t, factor);
    }
  }
  void add_task(int task) {
    Terms once;
    for (const Mode& mode : modes_) {
      if (mode.has(task)) add_starts(once, mode, 0, horizon_, 1);
    }
    row(once, 'E', 1);
    for (int t = 0; t < horizon_; ++t) {
      Terms ended;  // 1 - ended <= busy
      ended.add(busy_[static_cast<std::size_t>(t)], 1);
      add_ended(ended, task, t, 1);
      row(ended, 'G', 1);
      for (const int other : graph_.tasks[static_cast<std::size_t>(task)].after) {
        Terms order;
        for (const Mode& mode : modes_) {
          if (mode.has(task) && !mode.has(other)) add_starts(order, mode, 0, t, -1);
        }
        add_ended(order, other, t, 1);
        row(order, 'G', 0);
      }
    }
  }
  /// The task has ended by `t`.
  void add_ended(Terms& terms, int task, int t, double factor) const {
    for (const Mode& mode : modes_) {
      if (mode.has(task)) add_starts(terms, mode, 0, t - mode.us, factor);
    }
  }
  void add_capacity(bool on_links, int t) {
    Terms running;
    for (const Mode& mode : modes_) {
      if ((on_links ? mode.links : mode.compute) < 0) continue;
      add_starts(running, mode, t - mode.us + 1, t, 1);
    }
    row(running, 'L', 1);
  }

  Cbc_Model* model_ = Cbc_newModel();
  const TaskGraph& graph_;
  int horizon_ = 0;
  int columns_ = 0;
  std::vector<Mode> modes_{};
  std::vector<int> busy_{};
};

}  // namespace

std::optional<MilpResult> schedule_by_milp(const TaskGraph& graph, int horizon, double seconds) {
  return ScheduleProgram(graph, horizon).solve(seconds);
}

}  // namespace overlaptune
