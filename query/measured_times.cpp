#include "query/measured_times.hpp"

#include <map>
#include <tuple>
#include <variant>

#include <fmt/format.h>

#include "db/store.hpp"

namespace overlaptune {
namespace {

/// Operations have the names of collectives.
cluster::Operation operation_of(Collective collective) {
  return value_or_throw(parse_name<cluster::Operation>(to_string(collective)));
}

using RowTimes = std::map<std::tuple<cluster::Operation, int, std::int64_t>, double>;

/// NCCL's rings with its own choice of CTAs: what a program gets that calls NCCL.
RowTimes times_of_platform(const Store& store, PlatformId platform) {
  RowTimes times;
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

}  // namespace

cluster::MeasuredTimes stored_times(const std::string& database,
                                    std::vector<std::string> platforms) {
  const Store store(database, Access::read);
  if (platforms.empty()) platforms.emplace_back();
  cluster::MeasuredTimes measured;
  RowTimes all;
  for (const std::string& name : platforms) {
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
                             .place = database});
  }
  return measured;
}

}  // namespace overlaptune
