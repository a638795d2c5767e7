#include "planning/whatif/answers.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

namespace overlaptune::cluster {
namespace {

constexpr double kMostlyLatency = 0.5;  // of a time

/// Notes on the meaning of a time from data sheets.
std::vector<std::string> notes_of(const Cluster& cluster, const WhatIfAnswer& answer) {
  std::vector<std::string> notes;
  const AlgorithmTime& best = answer.estimate.algorithms.front();
  if (cluster.launch_us > 0 && best.latency_us > kMostlyLatency * best.us) {
    notes.push_back(fmt::format(
        "{:.0f} bytes are bound by latency: {:.1f} us are those of a call by itself, as in a "
        "replayed graph; a loop without a pause hides the launch of {:.1f} us, which leaves {:.1f} "
        "us a call at best{}",
        answer.question.bytes, answer.estimate.us, cluster.launch_us, answer.in_a_loop_us,
        answer.in_a_hosts_loop_us > 0
            ? fmt::format(", and {:.1f} us where one thread submits to the GPUs of a node in turn",
                          answer.in_a_hosts_loop_us)
            : ""));
  }
  // On 2 H200 all-gathers took 1.2 times as long in the median, reduce-scatters 1.4 to 1.5 times
  // (tests/data/collectives/h200_rings.csv). Clusters with such GPUs have `pairs`.
  const bool one_pass = answer.question.operation == Operation::all_gather ||
                        answer.question.operation == Operation::reduce_scatter;
  const bool known = cluster.levels.front().pairs.contains(to_string(answer.question.operation));
  if (answer.question.gpus == 2 && one_pass && !known && best.algorithm == Algorithm::ring) {
    notes.emplace_back(
        "rings of 2 GPUs take longer than data sheets say: by 20 % (all_gather) to 50 % "
        "(reduce_scatter) on 2 H200: expected --calibrate for a time to rely on");
  }
  return notes;
}

}  // namespace

std::vector<WhatIfAnswer> answers(const Cluster& cluster, const MeasuredTimes& measured,
                                  Operation operation, const std::vector<std::int64_t>& bytes,
                                  int gpus) {
  std::optional<Calibration> calibration;
  if (!measured.rows.empty()) {
    calibration = value_or_throw(Calibration::fit(cluster, measured.rows, operation));
  }
  std::vector<WhatIfAnswer> list;
  for (const std::int64_t each : bytes) {
    const Question question{operation, static_cast<double>(each), gpus};
    WhatIfAnswer answer{.question = question, .cluster = cluster.name};
    if (calibration) {
      answer.calibrated_by = measured.source;
      answer.estimate = value_or_throw(calibration->at(question.bytes, gpus));
    } else {
      answer.estimate.algorithms = value_or_throw(times_of(cluster, question));
      answer.estimate.us = answer.estimate.algorithms.front().us;
      answer.in_a_loop_us = answer.estimate.us - cluster.launch_us;
      if (cluster.submit_us > 0) {
        const int of_a_node = std::min(gpus, cluster.levels.front().sizes.front());
        answer.in_a_hosts_loop_us = std::max(answer.in_a_loop_us, cluster.submit_us * of_a_node);
      }
      answer.notes = notes_of(cluster, answer);
    }
    list.push_back(std::move(answer));
  }
  return list;
}

}  // namespace overlaptune::cluster
