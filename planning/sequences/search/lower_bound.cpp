#include "planning/sequences/search/lower_bound.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace overlaptune {
namespace {

constexpr int kBisections = 20;  // of bisection: to a millionth

std::int64_t tokens_of(const Runs& runs, std::span<const int> counts) {
  std::int64_t tokens = 0;
  for (int run = 0; run < runs.size(); ++run) {
    tokens += runs.least_tokens(run) * counts[static_cast<std::size_t>(run)];
  }
  return tokens;
}

/// GPU time of all sequences where none may take longer than `work`.
double least_area(const Runs& runs, std::span<const int> counts, double work) {
  double area = 0;
  for (int run = 0; run < runs.size(); ++run) {
    const int count = counts[static_cast<std::size_t>(run)];
    if (count > 0) area += count * runs.least_area(run, work);
  }
  return area;
}

/// The least `work` that is possible, at least `low`; `possible` must hold from some value on.
template <class Possible>
double least_work(double low, Possible possible) {
  double high = low * 1.01;
  while (!possible(high)) {
    low = high;
    high *= 2;
  }
  for (int step = 0; step < kBisections; ++step) {
    const double middle = 0.5 * (low + high);
    (possible(middle) ? high : low) = middle;
  }
  return low;
}

/// GPU time and tokens of sequences that may be divided.
struct AreaShare {
  double area_per_token = 0;
  std::int64_t tokens = 0;
};

/// The least GPU time of so many tokens.
double least_area_of(std::vector<AreaShare>& shares, std::int64_t tokens) {
  if (tokens <= 0) return 0;
  std::ranges::sort(shares, {}, &AreaShare::area_per_token);
  double area = 0;
  for (const AreaShare& share : shares) {
    if (tokens <= 0) break;
    area += share.area_per_token * static_cast<double>(std::min(tokens, share.tokens));
    tokens -= share.tokens;
  }
  return area;
}

/// The least time where the longest sequence has a level.
class WithLevel {
 public:
  WithLevel(const Runs& runs, int micro_batches, int level)
      : runs_(runs), micro_batches_(micro_batches), level_(level) {
    const Rates& rates = runs.rates();
    const std::int64_t tokens = tokens_of(runs, runs.counts());
    const std::int64_t beside = rates.capacity() * micro_batches - rates.capacity(level);
    sharing_ = tokens - runs.least_tokens(0) - beside;
    for (int run = 0; run < runs.size(); ++run) add(run, runs.least_area(run));
    after_ = least_area_of(shares_, tokens - rates.capacity()) / rates.gpus().count;
  }

  [[nodiscard]] double bound() {
    // Tokens that the longest sequence's micro-batch cannot hold run in the others, after its time.
    const double longest = runs_.time(0, level_) + after_;
    return runs_.rates().least_fixed() * micro_batches_ +
           least_work(longest, [this](double work) { return possible(work); });
  }

  /// Whether memory does not raise the bound: more micro-batches would not lower its work.
  [[nodiscard]] bool has_room() const { return sharing_ <= 0; }

 private:
  /// Adds the sequences of a run, without the longest one itself.
  void add(int run, double area) {
    const std::int64_t tokens = runs_.least_tokens(run);
    const int others = runs_.count(run) - (run == 0 ? 1 : 0);
    shares_.push_back({area / static_cast<double>(tokens), tokens * others});
  }

  bool possible(double work) {
    double area = runs_.area(0, level_) - runs_.least_area(0, work);
    shares_.clear();
    for (int run = 0; run < runs_.size(); ++run) {
      const double least = runs_.least_area(run, work);
      if (least == kNever) return false;
      area += least * runs_.counts()[static_cast<std::size_t>(run)];
      if (runs_.time(run, level_) <= work) add(run, runs_.area(run, level_) - least);
    }
    // Tokens that no memory beside the longest sequence's group holds share that group.
    area += least_area_of(shares_, sharing_);
    return area <= work * runs_.rates().gpus().count;
  }

  const Runs& runs_;
  int micro_batches_;
  int level_;
  std::int64_t sharing_ = 0;
  double after_ = 0;
  std::vector<AreaShare> shares_{};
};

}  // namespace

int fewest_micro_batches(const Runs& runs, std::span<const int> counts) {
  const Rates& rates = runs.rates();
  const auto rounded_up = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const std::int64_t by_memory =
      rounded_up(tokens_of(runs, counts), std::max<std::int64_t>(1, rates.capacity()));
  const std::int64_t groups = rates.gpus().count >> rates.least_level();
  const std::int64_t sequences = std::accumulate(counts.begin(), counts.end(), std::int64_t{0});
  const std::int64_t by_number = rounded_up(sequences, groups * rates.most_sequences());
  return static_cast<int>(std::max<std::int64_t>({1, by_memory, by_number}));
}

double lower_bound(const Runs& runs, std::span<const int> counts, int micro_batches) {
  // A micro-batch takes at most what is left of the total when the others take their fixed part.
  // So in a total of fixed parts and `work`, no group works longer than `work` on its sequences.
  const int gpus = runs.rates().gpus().count;
  const double spread = least_area(runs, counts, kNever) / gpus;
  return runs.rates().least_fixed() * micro_batches + least_work(spread, [&](double work) {
           return least_area(runs, counts, work) <= work * gpus;
         });
}

double batch_lower_bound(const Runs& runs) {
  double best = kNever;
  const int multiple = runs.rates().limits().micro_batches;
  int parts = fewest_micro_batches(runs, runs.counts());
  parts += (multiple - parts % multiple) % multiple;
  for (bool room = false; !room; parts += multiple) {
    // From the number on that has room, more micro-batches only add their fixed part.
    room = true;
    for (int level = runs.rates().least_level(); level < runs.rates().levels(); ++level) {
      if (runs.time(0, level) == kNever) continue;
      WithLevel with_level(runs, parts, level);
      best = std::min(best, with_level.bound());
      room = room && with_level.has_room();
    }
  }
  return best;
}

}  // namespace overlaptune
