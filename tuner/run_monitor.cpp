#include "tuner/run_monitor.hpp"

namespace overlaptune {

void RunMonitor::limit(std::optional<std::chrono::duration<double>> budget) {
  budget_ = budget;
  started_ = now_();
  share_end_.reset();
}

void RunMonitor::begin_share(std::size_t parts) {
  if (!budget_ || parts == 0) return;
  const auto now = now_();
  const auto left = std::chrono::duration<double>(*budget_ - (now - started_));
  share_end_ = now + std::chrono::duration_cast<Clock::duration>(left / static_cast<double>(parts));
}

bool RunMonitor::share_spent() const {
  return share_end_ && now_() >= *share_end_;
}

void RunMonitor::begin_stage(std::size_t steps) {
  done_ = 0;
  steps_ = steps;
}

bool RunMonitor::must_stop(std::string_view what) {
  return must_stop(done_, steps_, what);
}

bool RunMonitor::must_stop(std::size_t done, std::size_t total, std::string_view what) {
  stopped_ = stopped_ || out_of_time() || !progress_(done, total, what);
  return stopped_;
}

bool RunMonitor::out_of_time() const {
  return budget_ && now_() - started_ > *budget_;
}

}  // namespace overlaptune
