#include "machine/simulator/engine.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

namespace overlaptune::sim {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

/// A lane while it runs.
class Lane {
 public:
  explicit Lane(const std::vector<Task>& tasks) : tasks_(tasks) {
    before_.reserve(tasks.size() + 1);
    before_.push_back(0);
    for (const Task& task : tasks) before_.push_back(before_.back() + task.work);
    result.tasks.reserve(tasks.size());
  }

  [[nodiscard]] bool busy() const { return busy_; }
  [[nodiscard]] bool waiting() const { return !busy_ && next() < tasks_.size(); }
  [[nodiscard]] double slows_other() const { return busy_ ? current().slows_other : 1; }
  /// The factor on this lane's time while `other` runs.
  [[nodiscard]] double slowed_by(const Lane& other) const {
    return other.slows_other() * (busy_ && other.busy() ? current().slowed : 1);
  }

  /// The time at which the waiting task may start, given the progress of `producer`; never, if that
  /// is not far enough.
  [[nodiscard]] double may_start(const Lane& producer) const {
    if (!waiting()) return kNever;
    const Task& task = tasks_[next()];
    const double after = result.tasks.empty() ? 0 : result.tasks.back().end + task.gap;
    const double ready = ready_time(task, producer);
    return std::max({task.earliest, after, ready + (task.needs ? task.needs->delay : 0)});
  }

  /// Work of `producer` that the waiting task still waits for; never, if none.
  [[nodiscard]] double awaited_work(const Lane& producer) const {
    if (!waiting() || !tasks_[next()].needs) return kNever;
    const double position = position_of(tasks_[next()], producer);
    return position > producer.result.progress.work() ? position : kNever;
  }

  void start(double now, const Lane& producer) {
    const Task& task = tasks_[next()];
    result.progress.record(now, result.progress.work());
    result.tasks.push_back({.ready = ready_time(task, producer), .start = now});
    busy_ = true;
  }

  /// Remaining work of the running task.
  [[nodiscard]] double remaining() const {
    return before_[result.tasks.size()] - result.progress.work();
  }

  /// Records that the lane has done `work` at time `now`, and ends the task if that is all of it.
  void advance(double now, double work) {
    const double end = before_[result.tasks.size()];
    result.progress.record(now, std::min(work, end));
    if (work >= end) {
      result.tasks.back().end = now;
      busy_ = false;
    }
  }

  LaneRun result{};

 private:
  [[nodiscard]] std::size_t next() const { return result.tasks.size(); }
  [[nodiscard]] const Task& current() const { return tasks_[result.tasks.size() - 1]; }

  [[nodiscard]] static double position_of(const Task& task, const Lane& producer) {
    return producer.before_[task.needs->task] + task.needs->work;
  }

  [[nodiscard]] static double ready_time(const Task& task, const Lane& producer) {
    if (!task.needs) return 0;
    const double position = position_of(task, producer);
    if (position > producer.result.progress.work()) return kNever;
    return producer.result.progress.time_at(position);
  }

  const std::vector<Task>& tasks_;
  std::vector<double> before_;  ///< total work before each task, and of all tasks
  bool busy_ = false;
};

/// The time until the next event of `lane` while it runs at `rate`: its task ends, or reaches what
/// the other lane waits for. `target` receives the work of the lane at that event.
double until_event(const Lane& lane, const Lane& other, double rate, double& target) {
  if (!lane.busy()) return kNever;
  const double done = lane.result.progress.work();
  target = std::min(done + lane.remaining(), other.awaited_work(lane));
  return (target - done) / rate;
}

}  // namespace

void Progress::record(double time, double work) {
  times_.push_back(time);
  works_.push_back(work);
}

double Progress::time_at(double work) const {
  const auto at = std::ranges::lower_bound(works_, work);
  const auto i = static_cast<std::size_t>(at - works_.begin());
  if (i == 0) return times_.front();
  if (i == works_.size()) return times_.back();
  const double share = (work - works_[i - 1]) / (works_[i] - works_[i - 1]);
  return times_[i - 1] + share * (times_[i] - times_[i - 1]);
}

double EngineRun::end() const {
  double end = 0;
  if (!compute.tasks.empty()) end = compute.tasks.back().end;
  if (!communication.tasks.empty()) end = std::max(end, communication.tasks.back().end);
  return end;
}

EngineRun run_engine(const std::vector<Task>& compute, const std::vector<Task>& communication,
                     double clock) {
  Lane gemm(compute);
  Lane comm(communication);
  double now = 0;
  while (gemm.busy() || comm.busy() || gemm.waiting() || comm.waiting()) {
    if (gemm.may_start(comm) <= now) gemm.start(now, comm);
    if (comm.may_start(gemm) <= now) comm.start(now, gemm);
    const double gemm_rate = clock / gemm.slowed_by(comm);
    const double comm_rate = 1 / comm.slowed_by(gemm);
    double gemm_target = 0;
    double comm_target = 0;
    const double gemm_event = now + until_event(gemm, comm, gemm_rate, gemm_target);
    const double comm_event = now + until_event(comm, gemm, comm_rate, comm_target);
    const double then =
        std::min({gemm_event, comm_event, gemm.may_start(comm), comm.may_start(gemm)});
    if (then == kNever) throw std::logic_error("simulation: two lanes wait for each other");
    const auto move = [&](Lane& lane, double event, double target, double rate) {
      if (!lane.busy()) return;
      lane.advance(then,
                   event <= then ? target : lane.result.progress.work() + (then - now) * rate);
    };
    move(gemm, gemm_event, gemm_target, gemm_rate);
    move(comm, comm_event, comm_target, comm_rate);
    now = then;
  }
  return {.compute = std::move(gemm.result), .communication = std::move(comm.result)};
}

}  // namespace overlaptune::sim
