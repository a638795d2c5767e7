#pragma once
// The parts of `overlaptune whatif`.

#include <optional>
#include <string>
#include <vector>

#include "cli/command.hpp"
#include "cli/output/assumptions.hpp"
#include "planning/whatif/answers.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {

struct WhatIfFlags {
  CommonFlags common{};
  std::vector<std::string> clusters{};
  std::optional<cluster::Operation> operation{};
  std::vector<std::int64_t> bytes{};
  int gpus = 0;
  std::string calibrate{};
  std::vector<std::string> platforms{};

  std::string model{};
  ReadingOptions reading{};
  int data_parallel = 0;
  int tensor_parallel = 1;
  double utilisation = 0.4;
};

using cluster::MeasuredTimes;
using cluster::WhatIfAnswer;

/// The times of `--calibrate`: of a database, a CSV, or the output of nccl-tests. Throws `Failure`
/// (`bad_input`) that names the file.
[[nodiscard]] MeasuredTimes measured_times(const WhatIfFlags& flags, cluster::Operation operation);

/// A warning for each note of the cluster, and for each doubt about measured times of it.
void warn_of(const cluster::Cluster& cluster, const MeasuredTimes& measured);

[[nodiscard]] OrderedJson json_of(const WhatIfAnswer& answer);

/// "4.1 ms", or "4.1 ms (3.9 ms to 4.3 ms)" where measured times tell how far it may be off.
[[nodiscard]] std::string time_of(const WhatIfAnswer& answer);

/// " (from data sheets, not measured)", or " (calibrated by SOURCE)", to end a line with figures.
[[nodiscard]] std::string grounds(const std::string& source);

/// The table with the column `calibrated by` at its end; unchanged where nothing was measured.
[[nodiscard]] Table with_calibration(Table table, const std::string& source);

/// `--model`: gradients, their all-reduce, and the batch that hides it.
int whatif_of_model(const WhatIfFlags& flags);

}  // namespace overlaptune::cli
