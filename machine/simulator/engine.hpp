#pragma once
// An engine that runs two lanes of work in wall time: the compute lane (GEMMs) and the
// communication lane (collectives). Tasks of a lane run in order. While both lanes are busy each
// slows the other.

#include <cstddef>
#include <optional>
#include <vector>

namespace overlaptune::sim {

/// A task may not start before its producer, a task of the other lane, has done `work`.
struct Dependency {
  std::size_t task = 0;
  double work = 0;
  double delay = 0;  ///< time from there to the earliest start
};

struct Task {
  double work = 0;         ///< in microseconds, when nothing slows the task
  double slows_other = 1;  ///< factor on the other lane while this runs
  double slowed = 1;       ///< additional factor on this task while the other lane runs
  double gap = 0;          ///< least time after the end of the task before it
  double earliest = 0;     ///< time at which it has been submitted
  std::optional<Dependency> needs{};
};

struct TaskTimes {
  double ready = 0;  ///< time at which its producer had done enough (0 without one)
  double start = 0;
  double end = 0;
};

/// Work that a lane had done by each time, summed over all its tasks.
class Progress {
 public:
  void record(double time, double work);
  /// The time at which the lane first reached this much work; it must have reached it.
  [[nodiscard]] double time_at(double work) const;
  [[nodiscard]] double work() const { return works_.back(); }

 private:
  std::vector<double> times_{0};
  std::vector<double> works_{0};
};

struct LaneRun {
  std::vector<TaskTimes> tasks{};
  Progress progress{};
};

struct EngineRun {
  LaneRun compute{};
  LaneRun communication{};
  [[nodiscard]] double end() const;
};

/// Runs both lanes to their ends. `clock` is the rate of the compute lane, 1 at the highest clock.
/// Dependencies must not form a cycle: if no lane can go on, it throws std::logic_error.
[[nodiscard]] EngineRun run_engine(const std::vector<Task>& compute,
                                   const std::vector<Task>& communication, double clock);

}  // namespace overlaptune::sim
