// The measured times of `overlaptune whatif --calibrate`.

#include <algorithm>
#include <map>

#include <fmt/format.h>

#include "cli/whatif.hpp"
#include "db/store.hpp"
#include "tuner/text_file.hpp"

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

/// NCCL's rings with its own choice of CTAs: what a program gets that calls NCCL.
std::vector<cluster::MeasuredRow> rows_of_database(const WhatIfFlags& flags) {
  const Store store(flags.calibrate, Access::read);
  const PlatformId platform = value_or_throw(store.platform(flags.platform)).id;
  std::map<std::tuple<cluster::Operation, int, std::int64_t>, double> times;
  for (const Measurement& measurement : store.measurements(platform)) {
    const auto* probe = std::get_if<CollectiveProbe>(&measurement.probe);
    if (probe == nullptr || probe->transport != Transport::ring ||
        probe->comm_ctas != kNcclsChoice || probe->bytes.count <= 0) {
      continue;
    }
    times[{operation_of(probe->collective), probe->ranks, probe->bytes.count}] =
        measurement.time.median.count();
  }
  std::vector<cluster::MeasuredRow> rows;
  for (const auto& [key, us] : times) {
    const auto& [operation, ranks, bytes] = key;
    rows.push_back({operation, ranks, static_cast<double>(bytes), us});
  }
  return rows;
}

}  // namespace

std::vector<cluster::MeasuredRow> measured_rows(const WhatIfFlags& flags,
                                                cluster::Operation operation) {
  if (is_database(flags.calibrate)) {
    auto rows = rows_of_database(flags);
    if (!rows.empty()) return rows;
    throw Failure(ErrorKind::bad_input,
                  flags.calibrate + ": no collective is stored: run `overlaptune probe` first");
  }
  const std::string text = value_or_throw(read_text_file(flags.calibrate, cluster::kMostRowBytes));
  return value_or_throw(cluster::parse_rows(text, flags.calibrate, operation));
}

std::vector<WhatIfAnswer> answers(const cluster::Cluster& cluster,
                                  const std::vector<cluster::MeasuredRow>& rows,
                                  cluster::Operation operation,
                                  const std::vector<std::int64_t>& bytes, int gpus) {
  std::optional<cluster::Calibration> calibration;
  if (!rows.empty()) {
    calibration = value_or_throw(cluster::Calibration::fit(cluster, rows, operation));
  }
  std::vector<WhatIfAnswer> list;
  for (const std::int64_t each : bytes) {
    const cluster::Question question{operation, static_cast<double>(each), gpus};
    WhatIfAnswer answer{.question = question, .cluster = cluster.name};
    if (calibration) {
      answer.calibrated = true;
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
