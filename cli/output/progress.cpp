#include "cli/output/progress.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <unistd.h>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/interrupt.hpp"
#include "cli/output/terminal.hpp"

namespace overlaptune::cli {
namespace {

std::string duration_text(double seconds) {
  const auto whole = static_cast<long>(std::lround(std::min(seconds, 1e6)));
  if (whole < 60) return fmt::format("{}s", whole);
  if (whole < 3600) return fmt::format("{}m{:02}s", whole / 60, whole % 60);
  return fmt::format("{}h{:02}m", whole / 3600, whole % 3600 / 60);
}

}  // namespace

std::string progress_text(std::size_t done, std::size_t total, std::string_view what,
                          std::chrono::duration<double> elapsed, std::size_t done_at_start) {
  std::string left = "?";
  if (done > done_at_start) {
    const double each = elapsed.count() / static_cast<double>(done - done_at_start);
    left = duration_text(each * static_cast<double>(total - std::min(done, total)));
  }
  return fmt::format("{}/{} {} left  {}", done, total, left, what);
}

std::string progress_line(std::size_t done, std::size_t total, std::string_view what,
                          std::chrono::duration<double> elapsed, std::size_t done_at_start,
                          std::size_t columns) {
  constexpr std::size_t kBar = 20;
  const std::size_t filled = total == 0 ? kBar : kBar * std::min(done, total) / total;
  std::string line =
      fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(kBar - filled, '-'),
                  progress_text(done, total, what, elapsed, done_at_start));
  if (line.size() >= columns) line.resize(columns - 1);
  return line;
}

ProgressPlace standard_error() {
  return {.terminal = isatty(STDERR_FILENO) == 1,
          .now = [] { return std::chrono::steady_clock::now(); },
          .tell = [](const std::string& line) { spdlog::info("{}", line); }};
}

ProgressBar::ProgressBar(ProgressPlace place) : place_(std::move(place)), last_(place_.now()) {}

ProgressBar::~ProgressBar() {
  if (drawn_) std::fputs("\r\x1b[K", stderr);
}

Progress ProgressBar::callback() {
  return [this](std::size_t done, std::size_t total, std::string_view what) {
    show(done, total, what);
    return interrupted() == 0;
  };
}

void ProgressBar::show(std::size_t done, std::size_t total, std::string_view what) {
  constexpr std::chrono::milliseconds kRedrawn{100};
  const auto now = place_.now();
  const bool new_phase = total != total_;
  if (new_phase) {
    total_ = total;
    done_at_start_ = done;
    started_ = now;
  }
  if (new_phase || done != done_) {
    done_ = done;
    done_at_ = now;
  }
  const auto elapsed = done_at_ - started_;
  if (!place_.terminal) {
    if (now - last_ < kProgressInterval) return;
    last_ = now;
    place_.tell(progress_text(done, total, what, elapsed, done_at_start_));
    return;
  }
  if (!new_phase && done < total && now - last_ < kRedrawn) return;
  last_ = now;
  drawn_ = true;
  const std::string line =
      progress_line(done, total, what, elapsed, done_at_start_, terminal_columns(STDERR_FILENO));
  std::fprintf(stderr, "\r%s\x1b[K", line.c_str());
}

}  // namespace overlaptune::cli
