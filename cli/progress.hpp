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

/// Draws on standard error if that is a terminal; wiped when it goes.
class ProgressBar {
 public:
  ProgressBar();
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// For the long-running functions: draws, and returns false once a signal has arrived.
  [[nodiscard]] Progress callback();

 private:
  void draw(std::size_t done, std::size_t total, std::string_view what);

  using Clock = std::chrono::steady_clock;
  bool terminal_;
  bool drawn_ = false;
  std::size_t total_ = 0;          ///< of the phase under way: a new total is a new phase
  std::size_t done_at_start_ = 0;  ///< found in the database, so no measure of speed
  Clock::time_point started_{};
  Clock::time_point last_{};
};

}  // namespace overlaptune::cli
