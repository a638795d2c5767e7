#pragma once
// The progress of a tuning run, and whether it must stop.

#include <chrono>
#include <cstddef>
#include <functional>
#include <optional>
#include <string_view>
#include <utility>

#include "probes/probes.hpp"

namespace overlaptune {

class RunMonitor {
 public:
  using Clock = std::chrono::steady_clock;

  /// `progress` must outlive the monitor. It is not called again once it has returned false.
  explicit RunMonitor(const Progress& progress, std::function<Clock::time_point()> now = Clock::now)
      : progress_(progress), now_(std::move(now)) {}

  /// Limits the run to `budget` from now; without a budget it may take any time.
  void limit(std::optional<std::chrono::duration<double>> budget) {
    budget_ = budget;
    started_ = now_();
    share_end_.reset();
  }

  /// Begins one of the `parts` that are left, which share the rest of the budget equally. What a
  /// part leaves goes to those behind it.
  void begin_share(std::size_t parts) {
    if (!budget_ || parts == 0) return;
    const auto now = now_();
    const auto left = std::chrono::duration<double>(*budget_ - (now - started_));
    share_end_ =
        now + std::chrono::duration_cast<Clock::duration>(left / static_cast<double>(parts));
  }
  /// Whether the part has had its share; never without a budget.
  [[nodiscard]] bool share_spent() const { return share_end_ && now_() >= *share_end_; }

  /// Begins a stage of `steps` steps, none of them done.
  void begin_stage(std::size_t steps) {
    done_ = 0;
    steps_ = steps;
  }
  void step_done() { ++done_; }
  /// Shows all steps of the stage as done.
  void end_stage(std::string_view what) { progress_(steps_, steps_, what); }

  /// Shows the progress of the stage, with `what` as its next step. Returns true once the budget is
  /// spent or `progress` has returned false, and from then on.
  [[nodiscard]] bool must_stop(std::string_view what) { return must_stop(done_, steps_, what); }
  /// The last result of `must_stop`; does not call `progress`.
  [[nodiscard]] bool stopped() const { return stopped_; }

  /// Shows progress that the caller counts. Returns as the other one.
  [[nodiscard]] bool must_stop(std::size_t done, std::size_t total, std::string_view what) {
    const bool out_of_time = budget_ && now_() - started_ > *budget_;
    stopped_ = stopped_ || out_of_time || !progress_(done, total, what);
    return stopped_;
  }

 private:
  const Progress& progress_;
  std::function<Clock::time_point()> now_;
  std::optional<std::chrono::duration<double>> budget_{};
  Clock::time_point started_{};
  std::optional<Clock::time_point> share_end_{};
  std::size_t done_ = 0;
  std::size_t steps_ = 0;
  bool stopped_ = false;  ///< `progress` returned false, or the budget was spent
};

}  // namespace overlaptune
