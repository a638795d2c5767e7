#include "planning/advice/thresholds.hpp"

#include <algorithm>
#include <tuple>

namespace overlaptune {
namespace {

struct Point {
  std::int64_t tokens = 0;
  double gain = 1;
  bool measured = false;
};

/// The least tokens from which on all gains are sure. Sorts the points by tokens.
std::optional<Point> first_sure(std::vector<Point>& points) {
  std::ranges::sort(points, {}, &Point::tokens);
  const auto unsure = std::find_if(points.rbegin(), points.rend(),
                                   [](const Point& point) { return point.gain < kSureGain; });
  if (unsure == points.rbegin()) return std::nullopt;
  return *unsure.base();
}

Threshold completed(Threshold threshold, std::vector<Point> points) {
  if (const auto first = first_sure(points)) {
    threshold.tokens = first->tokens;
    threshold.gain = first->gain;
    threshold.measured = first->measured;
  }
  threshold.largest = points.back().tokens;
  threshold.gain_at_largest = points.back().gain;
  return threshold;
}

/// Passes that differ in the tokens only.
std::vector<std::vector<const Pass*>> by_layout(const Advice& advice) {
  std::vector<std::vector<const Pass*>> list;
  for (const Pass& pass : advice.passes) {
    const auto same = std::find_if(list.begin(), list.end(), [&](const auto& passes) {
      return passes.front()->tp == pass.tp && passes.front()->parallelism == pass.parallelism;
    });
    if (same == list.end()) {
      list.push_back({&pass});
    } else {
      same->push_back(&pass);
    }
  }
  return list;
}

/// Whether two passes of a layout speak of the same product of a layer.
bool alike(const Operation& a, const Operation& b) {
  return std::tie(a.product, a.kind, a.problem.op, a.problem.n, a.problem.k) ==
         std::tie(b.product, b.kind, b.problem.op, b.problem.n, b.problem.k);
}

bool all_measured(const Pass& pass) {
  return std::all_of(pass.operations.begin(), pass.operations.end(),
                     [](const Operation& each) { return each.answer.source == Source::exact; });
}

Threshold of_product(const std::vector<const Pass*>& passes, const Operation& product) {
  std::vector<Point> points;
  for (const Pass* pass : passes) {
    for (const Operation& each : pass->operations) {
      if (!alike(each, product)) continue;
      points.push_back(
          {pass->tokens, each.sequential / each.time, each.answer.source == Source::exact});
    }
  }
  return completed({.tp = passes.front()->tp,
                    .parallelism = passes.front()->parallelism,
                    .name = std::string(to_string(product.product)),
                    .problem = product.problem},
                   std::move(points));
}

Threshold of_pass(const std::vector<const Pass*>& passes) {
  std::vector<Point> points;
  points.reserve(passes.size());
  for (const Pass* pass : passes) {
    points.push_back({pass->tokens, pass->times.speedup(), all_measured(*pass)});
  }
  return completed(
      {.tp = passes.front()->tp, .parallelism = passes.front()->parallelism, .name = "pass"},
      std::move(points));
}

}  // namespace

std::vector<Threshold> thresholds(const Advice& advice) {
  std::vector<Threshold> list;
  for (const auto& passes : by_layout(advice)) {
    const Pass* largest = *std::ranges::max_element(passes, {}, &Pass::tokens);
    for (const Operation& each : largest->operations) {
      if (each.kind == OperationKind::problem) list.push_back(of_product(passes, each));
    }
    list.push_back(of_pass(passes));
  }
  return list;
}

std::vector<SequenceThreshold> sequence_thresholds(const Advice& advice) {
  std::vector<SequenceThreshold> list;
  const auto layouts = by_layout(advice);
  for (const auto& passes : layouts) {
    if (passes.front()->parallelism != Parallelism::sequence) continue;
    std::vector<Point> points;
    for (const Pass* pass : passes) {
      const auto plain =
          std::find_if(advice.passes.begin(), advice.passes.end(), [&](const Pass& other) {
            return other.tp == pass->tp && other.tokens == pass->tokens &&
                   other.parallelism == Parallelism::tensor;
          });
      if (plain == advice.passes.end()) continue;
      points.push_back({pass->tokens, plain->times.sequential / pass->times.overlapped});
    }
    if (points.empty()) continue;
    SequenceThreshold threshold{.tp = passes.front()->tp};
    if (const auto first = first_sure(points)) threshold.tokens = first->tokens;
    list.push_back(threshold);
  }
  return list;
}

}  // namespace overlaptune
