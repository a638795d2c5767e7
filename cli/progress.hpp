#pragma once
// A progress bar with the time left, on a terminal only.

#include <chrono>
#include <string>
#include <string_view>

#include "probes/probes.hpp"

namespace overlaptune::cli {

/// One line: `probing  [#####-----]  120/240  1m05s left  gemm …`, cut to `columns`.
[[nodiscard]] std::string progress_line(std::size_t done, std::size_t total, std::string_view what,
                                        std::chrono::duration<double> elapsed,
                                        std::size_t done_at_start, std::size_t columns);

/// Draws on standard error if it is a terminal. The destructor wipes the bar.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// The callback for long-running functions. It draws the bar, and returns false once a signal has
  /// arrived.
  [[nodiscard]] Progress callback();

 private:
  void draw(std::size_t done, std::size_t total, std::string_view what);

  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool drawn_ = false;
  std::size_t total_ = 0;          ///< total of the current phase: a new total begins a new phase
  std::size_t done_at_start_ = 0;  ///< found in the database, so they do not count for the speed
  Clock::time_point started_{};
  Clock::time_point last_{};
};

}  // namespace overlaptune::cli
