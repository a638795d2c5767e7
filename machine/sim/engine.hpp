#pragma once
// Couples two lanes of work in wall time: the compute lane (GEMMs) and the communication lane
// (collectives). Tasks of a lane run in order; while both lanes are busy each slows the other.

#include <cstddef>
#include <optional>
#include <vector>

namespace overlaptune::sim {

/// A task may not start before its producer, a task of the other lane, has done `work`.
struct Dependency {
  std::size_t task = 0;
  double work = 0;
  double delay = 0;  ///< from there to the earliest start
};

struct Task {
  double work = 0;         ///< microseconds when nothing slows it
  double slows_other = 1;  ///< factor on the other lane while this runs
  double slowed = 1;       ///< on this one, besides, while the other lane runs
  double gap = 0;          ///< at least this long after the task before it
  double earliest = 0;     ///< when it has been submitted
  std::optional<Dependency> needs{};
};

struct TaskTimes {
  double ready = 0;  ///< its producer had done enough (0 without one)
  double start = 0;
  double end = 0;
};

/// How far a lane had come at which time; work of all its tasks summed.
class Progress {
 public:
  void record(double time, double work);
  /// When the lane first reached this much work; it must have.
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
/// Dependencies must not form a cycle; a lane that can never start throws std::logic_error.
[[nodiscard]] EngineRun run_engine(const std::vector<Task>& compute,
                                   const std::vector<Task>& communication, double clock);

}  // namespace overlaptune::sim
