#include "cli/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>

#include "cli/interrupt.hpp"
#include "cli/terminal.hpp"

namespace overlaptune::cli {
namespace {

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(std::min(seconds, 1e6)));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
}

}  // namespace

std::string progress_line(std::size_t done, std::size_t total, std::string_view what,
                          std::chrono::duration<double> elapsed, std::size_t done_at_start,
                          std::size_t columns) {
  constexpr std::size_t kBar = 20;
  const std::size_t filled = total == 0 ? kBar : kBar * std::min(done, total) / total;
  std::string left = "?";
  if (done > done_at_start) {
    const double each = elapsed.count() / static_cast<double>(done - done_at_start);
    left = duration_text(each * static_cast<double>(total - std::min(done, total)));
  }
  std::string line = fmt::format("[{}{}] {}/{} {} left  {}", std::string(filled, '#'),
                                 std::string(kBar - filled, '-'), done, total, left, what);
  if (line.size() >= columns) line.resize(columns - 1);
  return line;
}

ProgressBar::ProgressBar() : terminal_(isatty(STDERR_FILENO) == 1) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

Progress ProgressBar::callback() {
  return [this](std::size_t done, std::size_t total, std::string_view what) {
    if (terminal_) draw(done, total, what);
    return interrupted() == 0;
  };
}

void ProgressBar::draw(std::size_t done, std::size_t total, std::string_view what) {
  const auto now = Clock::now();
  const bool new_phase = total != total_;
  if (new_phase) {
    total_ = total;
    done_at_start_ = done;
    started_ = now;
  }
  if (!new_phase && done < total && now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  const std::string line = progress_line(done, total, what, now - started_, done_at_start_,
                                         terminal_columns(STDERR_FILENO));
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
}

}  // namespace overlaptune::cli
