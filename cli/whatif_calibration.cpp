// The measured times of `overlaptune whatif --calibrate`.

#include <algorithm>
#include <map>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/whatif.hpp"
#include "core/text_file.hpp"
#include "db/store.hpp"

namespace overlaptune::cli {
namespace {

cluster::Operation operation_of(Collective collective) {
  switch (collective) {
    case Collective::all_reduce:
      return cluster::Operation::all_reduce;
    case Collective::reduce_scatter:
      return cluster::Operation::reduce_scatter;
    case Collective::all_gather:
      return cluster::Operation::all_gather;
    case Collective::all_to_all:
      return cluster::Operation::all_to_all;
  }
  return cluster::Operation::all_reduce;
}

using Times = std::map<std::tuple<cluster::Operation, int, std::int64_t>, double>;

/// NCCL's rings with its own choice of CTAs: what a program gets that calls NCCL.
Times times_of_platform(const Store& store, PlatformId platform) {
  Times times;
  for (const Measurement& each : store.measurements(platform)) {
    const auto* probe = std::get_if<CollectiveProbe>(&each.probe);
    if (probe == nullptr || probe->transport != Transport::ring ||
        probe->comm_ctas != kNcclsChoice || probe->bytes.count <= 0) {
      continue;
    }
    times[{operation_of(probe->collective), probe->ranks, probe->bytes.count}] =
        each.time.median.count();
  }
  return times;
}

MeasuredTimes times_of_database(const WhatIfFlags& flags) {
  const Store store(flags.calibrate, Access::read);
  auto names = flags.platforms;
  if (names.empty()) names.emplace_back();
  MeasuredTimes measured;
  Times all;
  for (const std::string& name : names) {
    const StoredPlatform stored = value_or_throw(store.platform(name));
    measured.source += (measured.source.empty() ? "" : ", ") + full_name(stored.platform);
    for (const auto& [key, us] : times_of_platform(store, stored.id)) {
      const auto& [operation, ranks, bytes] = key;
      if (all.emplace(key, us).second) continue;
      throw Failure(ErrorKind::bad_input,
                    fmt::format("--platform {}: {} on {} GPUs is also of another platform: "
                                "expected platforms of different GPU counts",
                                name, to_string(operation), ranks));
    }
  }
  for (const auto& [key, us] : all) {
    const auto& [operation, ranks, bytes] = key;
    measured.rows.push_back({.operation = operation,
                             .gpus = ranks,
                             .bytes = static_cast<double>(bytes),
                             .us = us,
                             .place = flags.calibrate});
  }
  return measured;
}

}  // namespace

MeasuredTimes measured_times(const WhatIfFlags& flags, cluster::Operation operation) {
  if (flags.calibrate.empty()) return {};
  if (!flags.platforms.empty() && !is_database(flags.calibrate)) {
    throw Failure(ErrorKind::bad_input, "--platform: expected beside a database as --calibrate");
  }
  if (is_database(flags.calibrate)) {
    auto measured = times_of_database(flags);
    if (!measured.rows.empty()) return measured;
    throw Failure(ErrorKind::bad_input,
                  flags.calibrate + ": no collective is stored: run `overlaptune probe` first");
  }
  const std::string text = value_or_throw(read_text_file(flags.calibrate));
  return {.rows = value_or_throw(cluster::parse_rows(text, flags.calibrate, operation)),
          .source = flags.calibrate};
}

std::vector<WhatIfAnswer> answers(const cluster::Cluster& cluster, const MeasuredTimes& measured,
                                  cluster::Operation operation,
                                  const std::vector<std::int64_t>& bytes, int gpus) {
  for (const std::string& note : cluster.notes) spdlog::warn("{}: {}", cluster.name, note);
  std::optional<cluster::Calibration> calibration;
  if (!measured.rows.empty()) {
    for (const std::string& doubt : cluster::doubts(cluster, measured.rows)) spdlog::warn(doubt);
    calibration = value_or_throw(cluster::Calibration::fit(cluster, measured.rows, operation));
  }
  std::vector<WhatIfAnswer> list;
  for (const std::int64_t each : bytes) {
    const cluster::Question question{operation, static_cast<double>(each), gpus};
    WhatIfAnswer answer{.question = question, .cluster = cluster.name};
    if (calibration) {
      answer.calibrated_by = measured.source;
      answer.estimate = value_or_throw(calibration->at(question.bytes, gpus));
    } else {
      answer.estimate.algorithms = value_or_throw(times_of(cluster, question));
      answer.estimate.us = answer.estimate.algorithms.front().us;
    }
    list.push_back(std::move(answer));
  }
  return list;
}

}  // namespace overlaptune::cli
