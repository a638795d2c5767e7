#include "planning/sequences/picture.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <vector>

#include <fmt/format.h>

namespace overlaptune {
namespace {

/// A row with each letter in the colour of its degree.
std::string coloured(const std::string& row) {
  std::string text;
  for (const char c : row) {
    if (c >= 'a' && c <= 'z') {
      text += fmt::format("\x1b[{}m{}\x1b[0m", 31 + (c - 'a') % 6, c);
    } else {
      text += c;
    }
  }
  return text;
}

}  // namespace

std::string picture(const BatchPlan& plan, const Gpus& gpus, const PictureOptions& options) {
  const int share = (gpus.count + options.rows - 1) / options.rows;  // GPUs of a row
  const int rows = (gpus.count + share - 1) / share;
  std::vector<std::string> canvas(static_cast<std::size_t>(rows));
  const auto column = [&](double time) {
    return static_cast<std::size_t>(std::lround(time / plan.time_us * options.columns));
  };
  double start = 0;
  for (const MicroBatch& part : plan.micro_batches) {
    const std::size_t end = column(start + part.time_us);
    for (std::string& row : canvas) row.resize(end, '.');
    for (const Group& group : part.groups) {
      for (int gpu = group.first_gpu; gpu < group.first_gpu + group.degree; ++gpu) {
        if (gpu % share != 0) continue;
        std::string& row = canvas[static_cast<std::size_t>(gpu / share)];
        const std::size_t from = column(start);
        const std::size_t to = std::max(from, column(start + group.time_us));
        std::fill(row.begin() + static_cast<std::ptrdiff_t>(from),
                  row.begin() + static_cast<std::ptrdiff_t>(std::min(to, row.size())),
                  static_cast<char>('a' + std::countr_zero(static_cast<unsigned>(group.degree))));
      }
    }
    for (std::string& row : canvas) {
      if (!row.empty()) row.back() = '|';
    }
    start += part.time_us;
  }
  std::string text = fmt::format(
      "GPU   0 to {:.1f} ms; a: degree 1, b: 2, c: 4, d: 8, ...; | ends a micro-batch\n",
      plan.time_us / 1e3);
  for (int row = 0; row < rows; ++row) {
    const std::string& drawn = canvas[static_cast<std::size_t>(row)];
    text += fmt::format("{:5} {}\n", row * share, options.colour ? coloured(drawn) : drawn);
  }
  return text;
}

}  // namespace overlaptune
