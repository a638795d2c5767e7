// The measured times of `overlaptune whatif --calibrate`.

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/whatif.hpp"
#include "core/base/text_file.hpp"
#include "db/store.hpp"
#include "query/measured_times.hpp"

namespace overlaptune::cli {

MeasuredTimes measured_times(const WhatIfFlags& flags, cluster::Operation operation) {
  if (flags.calibrate.empty()) return {};
  if (!flags.platforms.empty() && !is_database(flags.calibrate)) {
    refuse("--platform: expected beside a database as --calibrate");
  }
  if (is_database(flags.calibrate)) {
    auto measured = stored_times(flags.calibrate, flags.platforms);
    if (!measured.rows.empty()) return measured;
    refuse("{}: no collective is stored: run `overlaptune probe` first", flags.calibrate);
  }
  const std::string text = value_or_throw(read_text_file(flags.calibrate));
  return {.rows = value_or_throw(cluster::parse_rows(text, flags.calibrate, operation)),
          .source = called(flags.calibrate)};
}

void warn_of(const cluster::Cluster& cluster, const MeasuredTimes& measured) {
  for (const std::string& note : cluster.notes) spdlog::warn("{}: {}", cluster.name, note);
  if (measured.rows.empty()) return;
  for (const std::string& doubt : cluster::doubts(cluster, measured.rows)) spdlog::warn(doubt);
}

}  // namespace overlaptune::cli
