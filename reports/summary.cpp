#include "reports/summary.hpp"

#include <vector>

#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/statistics.hpp"
#include "reports/winners.hpp"

namespace overlaptune {
namespace {

std::string hardware(const Platform& platform) {
  return fmt::format("{} × {} ({}{}), driver {}, CUDA {}, NCCL {}, NVLink multicast {}",
                     platform.gpu_count, platform.gpu_model, full_name(platform),
                     is_simulated(platform) ? ", simulated" : "", platform.driver_version,
                     platform.cuda_version, platform.nccl_version,
                     platform.multicast_allowed ? "on" : "off");
}

std::string origin(const TuningRun& run) {
  constexpr std::size_t kDay = 10;  // 2026-01-31 of a time in ISO 8601
  const Provenance& provenance = run.provenance;
  return fmt::format("; {} on {}, overlaptune {}{}", provenance.started_at.substr(0, kDay),
                     provenance.host, provenance.program_version,
                     run.finished ? "" : " (not finished)");
}

std::string outcome(const Snapshot& snapshot, PlatformId platform) {
  std::vector<double> speedups;
  for (const StoredWinner& row : snapshot.winners) {
    if (row.platform != platform) continue;
    if (const auto ratio = speedup(row.winner)) speedups.push_back(*ratio);
  }
  if (speedups.empty()) return "no winners";
  return fmt::format("{} winner{}, {:.2f} times as fast as sequential in the geometric mean",
                     speedups.size(), speedups.size() == 1 ? "" : "s", geometric_mean(speedups));
}

}  // namespace

std::string summary(const Snapshot& snapshot) {
  std::string text;
  for (const PlatformRecord& record : snapshot.platforms) {
    const StoredPlatform& stored = record.stored;
    const std::string line =
        fmt::format("{}{}: {}", hardware(stored.platform),
                    record.last_run ? origin(*record.last_run) : "", outcome(snapshot, stored.id));
    text += fmt::format("- {}\n", printable(line));
  }
  return text;
}

}  // namespace overlaptune
