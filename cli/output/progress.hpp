#pragma once
// Progress of long work with the time left: a bar on a terminal, elsewhere a line from time to
// time.

#include <chrono>
#include <functional>
#include <string>
#include <string_view>

#include "probes/probes.hpp"

namespace overlaptune::cli {

/// `120/240 1m05s left  gemm …`
[[nodiscard]] std::string progress_text(std::size_t done, std::size_t total, std::string_view what,
                                        std::chrono::duration<double> elapsed,
                                        std::size_t done_at_start);

/// One line: `[#####-----]  120/240  1m05s left  gemm …`, cut to `columns`.
[[nodiscard]] std::string progress_line(std::size_t done, std::size_t total, std::string_view what,
                                        std::chrono::duration<double> elapsed,
                                        std::size_t done_at_start, std::size_t columns);

/// How long a reader of a file or a pipe waits for the next line.
inline constexpr std::chrono::seconds kProgressInterval{10};

/// The place where progress is shown, and its clock.
struct ProgressPlace {
  bool terminal = false;
  std::function<std::chrono::steady_clock::time_point()> now{};
  std::function<void(const std::string&)> tell{};  ///< takes a line where there is no terminal
};

/// Standard error; lines go to the log, at level `info`.
[[nodiscard]] ProgressPlace standard_error();

/// Draws a bar on a terminal, which the destructor wipes. Elsewhere it tells a line at most each
/// `kProgressInterval`.
class ProgressBar {
 public:
  explicit ProgressBar(ProgressPlace place = standard_error());
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  /// The callback for long-running functions. It shows the progress, and returns false once a
  /// signal has arrived.
  [[nodiscard]] Progress callback();

 private:
  void show(std::size_t done, std::size_t total, std::string_view what);

  using Clock = std::chrono::steady_clock;
  ProgressPlace place_;
  bool drawn_ = false;
  std::size_t total_ = 0;          ///< total of the current phase: a new total begins a new phase
  std::size_t done_at_start_ = 0;  ///< found in the database, so they do not count for the speed
  std::size_t done_ = 0;
  Clock::time_point started_{};
  Clock::time_point
      done_at_{};           ///< of the last step: a long one must not make the rest look longer
  Clock::time_point last_;  ///< shown, or made
};

}  // namespace overlaptune::cli
