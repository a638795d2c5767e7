#include "model/clock_model.hpp"

#include <algorithm>
#include <cmath>

#include "model/least_squares.hpp"

namespace overlaptune {
namespace {

struct Row {
  Load load{};
  double clock_mhz = 0;
  double gemm = 0;     ///< time at full clock, for a GEMM in turn with a collective; else 0
  bool brief = false;  ///< timed before clock and power had settled
};

/// The load with a share of the power of its GEMM.
Load with_power(Load load, double share) {
  load.work *= share;
  load.loads *= share;
  load.bytes *= share;
  return load;
}

double macs(const GemmProbe& probe) {
  return static_cast<double>(probe.m) * static_cast<double>(probe.n) * static_cast<double>(probe.k);
}

std::vector<Row> rows_of(std::span<const Measurement> measurements) {
  std::vector<Row> rows;
  for (const Measurement& measurement : measurements) {
    if (!measurement.conditions.sm_clock_mhz) continue;
    const double time = measurement.time.median.count();
    const double clock = *measurement.conditions.sm_clock_mhz;
    if (const auto* gemm = std::get_if<GemmProbe>(&measurement.probe)) {
      // Generated GEMMs are timed too briefly for the clock to settle.
      if (!gemm->tile.is_library()) continue;
      rows.push_back({.load = {.elements = gemm->elements,
                               .work = macs(*gemm),
                               .bytes = product_bytes(gemm->m, gemm->n, gemm->k, gemm->elements),
                               .gemm = time,
                               .round = time},
                      .clock_mhz = clock,
                      .brief = true});
    } else if (std::get_if<CollectiveProbe>(&measurement.probe) != nullptr) {
      rows.push_back({.load = {.collective = time, .round = time}, .clock_mhz = clock});
    }
  }
  return rows;
}

/// Elements of A and B that the kernels of libraries load for each multiply-add: those of their
/// usual tile for large GEMMs, 128x256 in a cluster of two.
constexpr double kLibraryLoads = 1.0 / 128;

/// Loads of 128x128, the most that the clock is probed with. A tile that loads more counts as this
/// one: its loads bound the GEMM, and then little of its power is above the limit.
constexpr double kMostLoads = 1.0 / 64;

/// Weight of a sustained probe, against 1 of any other row: it was repeated until the clock had
/// settled.
constexpr int kSustainedWeight = 4;

/// Adds the sustained probes whose collective was also timed alone. The rest of the round is the
/// time of the GEMM. A generated GEMM has nearly all of its round, so the clock tells enough, and
/// an error of its predicted time does not count.
void add_sustained(std::vector<Row>& rows, std::span<const Measurement> measurements,
                   const std::function<double(const GemmProbe&)>& gemm) {
  const auto alone = [&](const CollectiveProbe& wanted) {
    const auto found = std::ranges::find(measurements, Probe(wanted), &Measurement::probe);
    return found == measurements.end() ? 0.0 : found->time.median.count();
  };
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<SustainedProbe>(&measurement.probe);
    if (probe == nullptr || !measurement.conditions.sm_clock_mhz) continue;
    const double round = measurement.time.median.count();
    const double collective = alone(probe->collective);
    if (collective <= 0 || collective >= round) continue;
    const bool by_library = probe->gemm.tile.is_library();
    const Row row{
        {.elements = probe->gemm.elements,
         .work = macs(probe->gemm),
         .loads = macs(probe->gemm) * extra_loads(probe->gemm.tile),
         .bytes = product_bytes(probe->gemm.m, probe->gemm.n, probe->gemm.k, probe->gemm.elements),
         .gemm = round - collective,
         .collective = collective,
         .round = round},
        *measurement.conditions.sm_clock_mhz,
        by_library ? gemm(probe->gemm) : 0};
    rows.insert(rows.end(), kSustainedWeight, row);
  }
}

}  // namespace

double extra_loads(const Tile& tile) {
  if (tile.is_library()) return 0;
  const double loads = 1.0 / tile.block_n + 1.0 / (tile.block_m * tile.cluster);
  return std::min(loads, kMostLoads) - kLibraryLoads;
}

ClockModel::Slowdowns ClockModel::slowdowns(const Load& load, const Constants& constants) {
  const double gemm =
      (load.work + constants.load_power * load.loads) / constants.peak_rate(load.elements) +
      constants.byte_power * load.bytes;
  const double collective = constants.collective_power * load.collective;
  const double mean =
      (gemm + collective) / load.round * (1 - std::exp(-load.round / constants.scale));
  const auto slowdown = [&](double now) {
    const double power = constants.instant * now + (1 - constants.instant) * mean;
    const double above = (power - constants.onset) / constants.rounding;
    const double smooth = above > 30 ? above : std::log1p(std::exp(above));
    return 1 + constants.loss * constants.rounding * smooth;
  };
  const double both = std::max(0.0, load.gemm + load.collective + load.rest - load.round);
  return {.gemm = load.gemm > 0 ? slowdown((gemm + constants.collective_power * both) /
                                           (load.gemm * load.stretch))
                                : 1,
          .collective = slowdown(constants.collective_power)};
}

/// The factor that belongs to the mean clock of a whole round.
double ClockModel::mean_slowdown(const Load& load, const Constants& constants) {
  const Slowdowns slow = slowdowns(load, constants);
  return load.round / (load.gemm / slow.gemm + (load.round - load.gemm) / slow.collective);
}

ClockModel ClockModel::of(std::span<const Measurement> measurements) {
  ClockModel model;
  bool known = false;  // whether a GEMM recorded its clock
  for (const Row& row : rows_of(measurements)) {
    model.full_clock_mhz_ = std::max(model.full_clock_mhz_, row.clock_mhz);
    known = known || row.load.work > 0;
  }
  return known ? model : ClockModel();
}

void ClockModel::fit(std::span<const Measurement> measurements,
                     const std::function<double(const GemmProbe&)>& gemm,
                     std::vector<double>* constants) {
  if (full_clock_mhz_ <= 0) return;
  std::vector<Row> rows = rows_of(measurements);
  constants_.peak_rate = {};
  for (const Row& row : rows) {
    constants_.peak_rate.add(row.load.elements, row.load.work / row.load.round);
  }

  auto with = [peak_rate = constants_.peak_rate](const Eigen::VectorXd& x) {
    return Constants{.peak_rate = peak_rate,
                     .scale = x[0],
                     .onset = x[1],
                     .rounding = x[2],
                     .loss = x[3],
                     .byte_power = x[4],
                     .load_power = x[7],
                     .collective_power = x[5],
                     .instant = x[6] / (1 + x[6]),
                     .brief = x[8]};
  };
  Eigen::VectorXd typical(9);
  typical << 100, 0.5, 0.1, 0.3, 1e-7, 0.2, 0.5, 15, 1;
  constexpr double kPriorWeight = 1e-4;
  const auto find = [&] {
    add_sustained(rows, measurements, gemm);
    return fit_positive(
        typical, 2 * static_cast<Eigen::Index>(rows.size()), kPriorWeight,
        [&](const Eigen::VectorXd& x, Eigen::Ref<Eigen::VectorXd> residuals) {
          const Constants tried = with(x);
          Eigen::Index i = 0;
          for (const Row& row : rows) {
            const Load load = row.brief ? with_power(row.load, tried.brief) : row.load;
            residuals[i++] = mean_slowdown(load, tried) - full_clock_mhz_ / row.clock_mhz;
            // The smaller the GEMM's share of the round, the less certain its time.
            const double longer = row.gemm > 0 ? load.gemm / row.gemm : 0;
            residuals[i++] =
                longer > 0 ? load.gemm / load.round * (slowdowns(load, tried).gemm - longer) : 0;
          }
        });
  };
  constants_ = with(known_or_found(constants, typical.size(), find));
}

double ClockModel::slowdown(const Load& load) const {
  return slowdowns(load, constants_).gemm;
}

double ClockModel::recorded(const Conditions& conditions) const {
  if (!conditions.sm_clock_mhz || full_clock_mhz_ <= 0) return 1;
  return full_clock_mhz_ / *conditions.sm_clock_mhz;
}

}  // namespace overlaptune
