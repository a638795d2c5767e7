#include "planning/whatif/algorithms.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "planning/whatif/algorithm_parts.hpp"

namespace overlaptune::cluster {

const Protocol& Sender::of(const Slice& slice) const {
  const auto& all = slice.level->protocols;
  const auto found = std::ranges::find(all, inner->name, &Protocol::name);
  return found == all.end() ? all.back() : *found;
}

double Sender::step(const Slice& slice) const {
  return slice.level->latency_us + of(slice).extra_us;
}

double Sender::rate(const Slice& slice, double bytes) const {
  return gpu_rate(slice, bytes) * of(slice).share;
}

double Sender::ring_rate(const Slice& slice, Operation operation, double bytes) const {
  const auto& pairs = slice.level->pairs;
  const auto found = pairs.find(to_string(operation));
  const bool is_pair = slice.size == 2 && slice.inner == 1 && found != pairs.end();
  return rate(slice, bytes) * (is_pair ? value_at(found->second, bytes) : 1);
}

void Transfer::add(const Slice& slice, double us) {
  if (level_ != nullptr && us <= us_) return;
  us_ = us;
  level_ = slice.level;
}

AlgorithmTime Transfer::timed(Algorithm algorithm, const Sender& sender, double latency_us) const {
  return {.algorithm = algorithm,
          .protocol = sender.inner->name,
          .us = latency_us + us_,
          .latency_us = latency_us,
          .bound_by = level_ == nullptr || latency_us > us_ ? "latency" : level_->name};
}

double bus_factor(Operation operation, int gpus) {
  if (operation == Operation::send) return 1;
  return passes(operation) * (gpus - 1.0) / gpus;
}

Expected<std::vector<AlgorithmTime>> times_of(const Cluster& cluster, const Question& question) {
  if (question.gpus < 2) {
    return bad_input(fmt::format("--gpus {}: expected at least 2", question.gpus));
  }
  if (!(question.bytes >= 1)) return bad_input("--bytes 0: expected at least 1");
  const auto slices = slices_of(cluster, question.gpus);
  if (!slices) return error_of(slices);

  constexpr Found (*kAlgorithms[])(const Sender&, const Question&) = {
      ring, tree, hierarchical, multi_dimensional, by_switch, direct};
  std::vector<AlgorithmTime> times;
  for (const auto algorithm : kAlgorithms) {
    Found best;
    for (const Protocol& protocol : slices->front().level->protocols) {
      const Found found = algorithm({.slices = *slices, .inner = &protocol}, question);
      if (found && (!best || found->us < best->us)) best = found;
    }
    if (!best) continue;
    best->us += cluster.launch_us;
    best->latency_us += cluster.launch_us;
    times.push_back(*best);
  }
  std::ranges::stable_sort(times, {}, &AlgorithmTime::us);
  return times;
}

}  // namespace overlaptune::cluster
