#include "planning/sequences/search/runs.hpp"

#include <algorithm>
#include <functional>
#include <utility>

#include "core/base/index.hpp"

namespace overlaptune {

std::vector<Run> runs_of(std::span<const std::int64_t> lengths) {
  std::vector<std::int64_t> sorted(lengths.begin(), lengths.end());
  std::sort(sorted.begin(), sorted.end(), std::greater<>());
  std::vector<Run> runs;
  for (const std::int64_t length : sorted) {
    if (runs.empty() || runs.back().length != length) runs.push_back({length, 0});
    ++runs.back().count;
  }
  return runs;
}

std::vector<int> each_of(std::span<const int> counts) {
  std::vector<int> list;
  for (std::size_t run = 0; run < counts.size(); ++run) {
    list.insert(list.end(), index(counts[run]), static_cast<int>(run));
  }
  return list;
}

Runs::Runs(const Rates& rates, std::vector<Run> runs) : rates_(&rates), runs_(std::move(runs)) {
  times_.reserve(runs_.size() * static_cast<std::size_t>(rates.levels()));
  tokens_.reserve(times_.capacity());
  for (const Run& run : runs_) {
    counts_.push_back(run.count);
    for (int level = 0; level < rates.levels(); ++level) {
      const std::int64_t tokens = tokens_.emplace_back(rates.padded(run.length, level));
      times_.push_back(tokens <= rates.capacity(level) ? rates.time(tokens, level) : kNever);
    }
  }
}

int Runs::holding_level(int run, int from) const {
  int level = from;
  while (level < rates_->levels() && tokens(run, level) > rates_->capacity(level)) ++level;
  return level;
}

double Runs::least_area(int run, double most) const {
  double least = kNever;
  for (int level = 0; level < rates_->levels(); ++level) {
    if (time(run, level) <= most) least = std::min(least, area(run, level));
  }
  return least;
}

}  // namespace overlaptune
