#include "model/gemm_model.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <set>
#include <string>

#include "model/least_squares.hpp"

namespace overlaptune {
namespace {

struct Row {
  GemmProbe probe{};
  int sms = 0;
  double time = 0;  ///< measured, at full clock and without the replay
  std::optional<Tile> library_tile{};
  int ctas = 1;  ///< CTAs that share a tile, in a generated GEMM
};

std::vector<Row> rows_of(std::span<const Measurement> measurements, bool library,
                         const LaunchModel& launch, const ClockModel& clock, int all_sms) {
  std::vector<Row> rows;
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<GemmProbe>(&measurement.probe);
    if (probe == nullptr || probe->tile.is_library() != library) continue;
    constexpr double kLeastTime = 0.5;
    const double time = measurement.time.median.count() - launch.replay;
    rows.push_back({*probe, probe->sms > 0 ? probe->sms : all_sms,
                    std::max(kLeastTime, time / clock.recorded(measurement.conditions)),
                    measurement.library_tile});
  }
  return rows;
}

/// The least time of one SM for a multiply-add in any of the rows.
double fastest_per_mac(const std::vector<Row>& rows) {
  double fastest = std::numeric_limits<double>::max();
  for (const Row& row : rows) {
    const GemmProbe& p = row.probe;
    const double macs =
        static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
    fastest = std::min(fastest, row.time * row.sms / macs);
  }
  return fastest;
}

/// Typical constants of recent GPUs. The fit starts here and is drawn weakly towards them, so that
/// a constant which the probes leave open keeps a plausible value.
GemmConstants typical(const std::vector<Row>& rows) {
  const double per_mac = fastest_per_mac(rows);
  const Elements elements = rows.front().probe.elements;
  const auto row_bytes = static_cast<double>(block_k_of(elements) * operand_bytes(elements));
  const double step = per_mac * 128 * 128 * block_k_of(elements);  // one k block of a 128x128 tile
  return {
      .per_mac = per_mac * 0.95,
      .per_fragment = per_mac * 6,
      .multicast = 0.7,
      .clipping = 1,
      .per_misaligned_byte = 1.9 * step / (256 * row_bytes) / 128,
      // Neither bound may hide the other from the start: a bound that never holds is never fitted.
      .per_operand_byte = 0.4 * step / (256 * row_bytes),
      .per_shared_byte = 0.8 * step / (256 * row_bytes) / 128,
      .per_missed_byte = step / (3000 * row_bytes),
      .cache_bytes = 4e7,
      .load_latency = 0.8,
      .per_tile = 1.0,
      .per_output_byte = 1e-5,
      .spread = 0.05,
      .per_launch = 1.0};
}

/// The features that the correction depends on: smooth functions of the logarithms of everything
/// that was varied, and of how close the second bound is to the slowest.
constexpr int kFeatures = 28;
using Features = Eigen::Matrix<double, kFeatures, 1>;

Features features(const GemmWork& work, const TileBounds& bounds) {
  auto log_of = [](std::int64_t value, double least, double most, double middle) {
    return std::log2(std::clamp(static_cast<double>(value), least, most) / middle);
  };
  const double m = std::log2(work.tile.block_m / 128.0);
  const double n = std::log2(work.tile.block_n / 128.0);
  const double k = log_of(work.k, 512, 32768, 4096);
  const double stages = work.tile.stages - 4.0;
  const double cluster = work.tile.cluster - 1.5;
  const double column = log_of(work.order.column_tiles(0), 1, 64, 8);
  const double across = log_of(work.order.columns(), 1, 1024, 64);
  const double waves = log_of(work.order.tiles() / work.sms + 1, 1, 64, 8);
  const double sms = work.sms / 128.0 - 1;
  const double ratio = bounds.second / bounds.slowest;
  const double close = ratio * ratio * ratio * ratio * ratio * ratio;
  const double once = bounds.once / bounds.time();
  Features f;
  f << 1, m, n, k, stages, cluster, column, across, waves, sms, close, once, m * m, n * n, k * k,
      column * column, stages * stages, m * n, m * k, n * k, cluster * n, cluster * m, column * n,
      column * k, across * k, waves * k, close * close, once * once;
  return f;
}

/// The time of a tile with the correction. However far that is from all probes, the tensor cores
/// take at least `least_per_mac` for a multiply-add.
double corrected(const TileBounds& bounds, const Eigen::VectorXd& correction, const GemmWork& work,
                 double least_per_mac) {
  constexpr double kLargest = 0.25;
  const double factor =
      std::exp(std::clamp(correction.dot(features(work, bounds)), -kLargest, kLargest));
  const auto macs =
      static_cast<double>(work.tile.block_m) * work.tile.block_n * static_cast<double>(work.k);
  return std::max(bounds.time() * factor, least_per_mac * macs / work.ctas);
}

GemmWork work_of(const GemmProbe& probe, const Tile& tile, int swizzle, int sms) {
  return {.tile = tile,
          .order = {.block_rows = probe.m,
                    .n = probe.n,
                    .blocks = 1,
                    .block_m = tile.block_m,
                    .block_n = tile.block_n,
                    .swizzle = std::max(swizzle, 1),
                    .elements = probe.elements},
          .k = probe.k,
          .sms = sms};
}

double whole(const GemmWork& work, double tile, const GemmConstants& constants) {
  return constants.per_launch + produced(tile, work.order.tiles(), work.sms, constants.spread);
}

/// The tiles that libraries offer on every architecture since Ampere: the menu of a library that
/// does not tell its tile. `block_k` is that of 2-byte elements.
constexpr std::array<Tile, 11> kUsualMenu{{{64, 64, 64, 4, 1},
                                           {64, 128, 64, 4, 1},
                                           {128, 64, 64, 4, 1},
                                           {128, 128, 64, 4, 1},
                                           {64, 256, 64, 4, 1},
                                           {256, 64, 64, 4, 1},
                                           {128, 192, 64, 4, 1},
                                           {192, 128, 64, 4, 1},
                                           {128, 256, 64, 4, 1},
                                           {256, 128, 64, 4, 1},
                                           {192, 192, 64, 4, 1}}};
constexpr int kLibrarySwizzle = 8;

std::vector<Tile> menu_of(const std::vector<Row>& rows) {
  std::set<Tile> seen;
  for (const Row& row : rows) {
    if (row.library_tile) seen.insert(*row.library_tile);
  }
  if (!seen.empty()) return {seen.begin(), seen.end()};
  std::vector<Tile> usual{kUsualMenu.begin(), kUsualMenu.end()};
  for (Tile& tile : usual) tile.block_k = block_k_of(rows.front().probe.elements);
  return usual;
}

/// The GEMM that the library is taken to run: the best tile of the menu.
GemmWork library_work(const GemmProbe& probe, int blocks, int sms, const std::vector<Tile>& menu,
                      const GemmConstants& constants) {
  GemmWork best;
  double best_time = std::numeric_limits<double>::infinity();
  for (const Tile& tile : menu) {
    GemmWork work = work_of(probe, tile, std::max(1, kLibrarySwizzle / blocks), sms);
    work.order.blocks = blocks;
    work.library = true;
    const double time = whole(work, tile_bounds(work, constants).time(), constants);
    if (time < best_time) {
      best_time = time;
      best = work;
    }
  }
  return best;
}

/// The GEMM of a row. For a library that does not tell its tile, it is the best of the menu.
GemmWork work_of(const Row& row, const std::vector<Tile>& menu, const GemmConstants& constants) {
  if (!row.probe.tile.is_library()) {
    GemmWork work = work_of(row.probe, row.probe.tile, row.probe.swizzle, row.sms);
    work.ctas = row.ctas;
    return work;
  }
  if (row.library_tile) {
    GemmWork work = work_of(row.probe, *row.library_tile, kLibrarySwizzle, row.sms);
    work.library = true;
    return work;
  }
  return library_work(row.probe, 1, row.sms, menu, constants);
}

double predicted(const Row& row, const std::vector<Tile>& menu, const GemmConstants& constants) {
  const GemmWork work = work_of(row, menu, constants);
  return whole(work, tile_bounds(work, constants).time(), constants);
}

GemmConstants fit_constants(const std::vector<Row>& rows, const std::vector<Tile>& menu,
                            const GemmConstants& start) {
  constexpr double kPriorWeight = 0.01;
  return GemmConstants::from_values(
      fit_positive(start.values(), static_cast<Eigen::Index>(rows.size()), kPriorWeight,
                   [&](const Eigen::VectorXd& x, Eigen::Ref<Eigen::VectorXd> residuals) {
                     const GemmConstants constants = GemmConstants::from_values(x);
                     Eigen::Index i = 0;
                     for (const Row& row : rows) {
                       residuals[i++] = std::log(predicted(row, menu, constants) / row.time);
                     }
                   }));
}

/// Mean of the squared logarithms of predicted over measured time.
double misfit(const std::vector<Row>& rows, const GemmConstants& constants) {
  double sum = 0;
  for (const Row& row : rows) {
    const double error = std::log(predicted(row, {}, constants) / row.time);
    sum += error * error;
  }
  return sum / static_cast<double>(rows.size());
}

/// The constants of kernels whose tile is given.
GemmConstants fit_tiled(const std::vector<Row>& rows) {
  // The first rows are those of a full probe, which are spread over all shapes. Most of the others
  // may be of few layers, and resemble one another. The fit of all rows starts from the constants
  // of the first ones, because a direct fit can end at implausible constants: it once did, at SMs
  // that drift apart by more than a tile within one wave.
  constexpr std::size_t kSpreadOut = 192;
  const std::vector<Row> first(
      rows.begin(), rows.begin() + static_cast<std::ptrdiff_t>(std::min(rows.size(), kSpreadOut)));
  const auto fitted = [&](const GemmConstants& start) {
    const GemmConstants near = fit_constants(first, {}, start);
    return rows.size() > first.size() ? fit_constants(rows, {}, near) : near;
  };
  // The fit starts from two points: an L2 beyond which each wave loads operands again, and one that
  // nothing exceeds, as with a good order of tiles. No step of the fit leads from one to the other.
  GemmConstants ample = typical(rows);
  ample.cache_bytes = 1e9;
  const GemmConstants missing = fitted(typical(rows));
  const GemmConstants spared = fitted(ample);
  return misfit(rows, missing) <= misfit(rows, spared) ? missing : spared;
}

/// Fewest rows of a fit: those of a quick probe. What they leave open, the typical constants say.
constexpr std::size_t kFewestRows = 26;

tl::unexpected<Error> too_few(const char* what, std::size_t count) {
  return bad_input(std::string("model: ") + std::to_string(count) + " measurements of " + what +
                   " are stored for this platform, at least " + std::to_string(kFewestRows) +
                   " are needed: run `overlaptune probe` first");
}

/// The coefficients of the correction, which is added to the logarithm of the tile time.
Eigen::VectorXd fit_correction(const std::vector<Row>& rows, const std::vector<Tile>& menu,
                               const GemmConstants& constants) {
  constexpr double kRidge = 0.5;
  const auto count = static_cast<Eigen::Index>(rows.size());
  Eigen::MatrixXd matrix(count, kFeatures);
  Eigen::VectorXd residual(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Row& row = rows[static_cast<std::size_t>(i)];
    const GemmWork work = work_of(row, menu, constants);
    matrix.row(i) = features(work, tile_bounds(work, constants));
    residual[i] = std::log(row.time / predicted(row, menu, constants));
  }
  return fit_ridge(matrix, residual, kRidge);
}

}  // namespace

Expected<GemmModel> GemmModel::fit(std::span<const Measurement> measurements,
                                   const LaunchModel& launch, const ClockModel& clock, int all_sms,
                                   const GpuLimits& limits, std::vector<double>* constants) {
  std::vector<Row> rows = rows_of(measurements, false, launch, clock, all_sms);
  if (rows.size() < kFewestRows) return too_few("GEMM with a given tile", rows.size());
  GemmModel model;
  model.limits_ = limits;
  for (Row& row : rows) row.ctas = model.work(row.probe, row.sms).ctas;
  // With few rows, operands from L2 bound no tile. A quick probe has four such GEMMs.
  constexpr std::int64_t kManyRows = 512;
  constexpr int kEnough = 4;
  model.knows_misaligned_ =
      std::count_if(rows.begin(), rows.end(), [&](const Row& row) {
        return row.probe.m >= kManyRows && is_misaligned(model.work(row.probe, row.sms));
      }) >= kEnough;
  model.constants_ = GemmConstants::from_values(
      known_or_found(constants, GemmConstants::kCount, [&] { return fit_tiled(rows).values(); }));
  model.correction_ = fit_correction(rows, {}, model.constants_);
  // The fastest GEMM that was probed had a launch and a last wave as well, which its tiles had not.
  constexpr double kOfTiles = 0.96;
  model.least_per_mac_ = kOfTiles * fastest_per_mac(rows);
  std::map<std::pair<std::int64_t, std::int64_t>, LayerResiduals> layers;
  for (const Row& row : rows) {
    const double time = model.whole(row.probe, row.sms);
    layers[{row.probe.n, row.probe.k}].add(row.probe.tile, std::log(row.probe.m),
                                           std::log(row.time / time));
  }
  model.layers_ = std::move(layers);
  return model;
}

GemmWork GemmModel::work(const Tile& tile, const TileOrder& order, std::int64_t k, int sms) const {
  return {.tile = tile,
          .order = order,
          .k = k,
          .sms = sms,
          .ctas = ctas_per_tile(order, tile, k, sms, limits_)};
}

GemmWork GemmModel::work(const GemmProbe& probe, int sms) const {
  return work(probe.tile, work_of(probe, probe.tile, probe.swizzle, sms).order, probe.k, sms);
}

double GemmModel::tile_time(const GemmWork& work) const {
  const double time = corrected(tile_bounds(work, constants_), correction_, work, least_per_mac_);
  // Costs that a persistent launch has once and every tile has if it starts alone: to start, to
  // fill the pipeline, and to store results with nothing beside.
  const double alone = constants_.per_launch - per_launch(work.persistent);
  const auto layer = layers_.find({work.order.n, work.k});
  if (layer == layers_.end()) return time + alone;
  const double log_m = std::log(work.order.block_rows * work.order.blocks);
  return time * std::exp(layer->second.at(work.tile, log_m)) + alone;
}

double GemmModel::whole(const GemmProbe& probe, int sms, bool persistent) const {
  const GemmWork known = work(probe, sms);
  return produced(tile_time(probe, sms, persistent), known.order.tiles(), sms, persistent);
}

double GemmModel::tile_time(const GemmProbe& probe, int sms, bool persistent) const {
  GemmWork known = work(probe, sms);
  known.persistent = persistent;
  return tile_time(known);
}

double GemmModel::fed_slower(const GemmProbe& probe, int sms, double times) const {
  return overlaptune::fed_slower(work(probe, sms), constants_, times);
}

void LayerResiduals::add(const Tile& tile, double log_m, double residual) {
  tiles_[tile].push_back({log_m, residual});
  sum_ += residual;
  ++count_;
}

double LayerResiduals::at(const Tile& tile, double log_m) const {
  constexpr double kPriorWeight = 3;
  constexpr double kLargest = 0.3;
  const auto limited = [&](double residual) { return std::clamp(residual, -kLargest, kLargest); };
  const auto same = tiles_.find(tile);
  if (same == tiles_.end()) return limited(sum_ / (count_ + kPriorWeight));
  // The mean of all residuals at the nearest m, with any SMs and swizzle.
  const auto distance = [&](const Seen& seen) { return std::abs(seen.log_m - log_m); };
  double nearest = std::numeric_limits<double>::infinity();
  for (const Seen& seen : same->second) nearest = std::min(nearest, distance(seen));
  double sum = 0;
  int count = 0;
  for (const Seen& seen : same->second) {
    if (distance(seen) > nearest) continue;
    sum += seen.residual;
    ++count;
  }
  return limited(sum / count);
}

Expected<LibraryGemmModel> LibraryGemmModel::fit(std::span<const Measurement> measurements,
                                                 const LaunchModel& launch, const ClockModel& clock,
                                                 int all_sms, const GemmModel* generated,
                                                 std::vector<double>* constants) {
  const std::vector<Row> rows = rows_of(measurements, true, launch, clock, all_sms);
  std::vector<Row> whole_gpu;
  std::vector<Row> partial;
  for (const Row& row : rows) (row.sms < all_sms ? partial : whole_gpu).push_back(row);
  if (whole_gpu.size() < kFewestRows) {
    return too_few("the library's GEMM on all SMs", whole_gpu.size());
  }
  LibraryGemmModel model;
  model.elements_ = rows.front().probe.elements;
  model.menu_ = menu_of(rows);
  GemmConstants start = typical(whole_gpu);
  // The rate is one of the GPU's, and generated GEMMs were probed with such rows on purpose.
  if (generated != nullptr && generated->knows_misaligned()) {
    start.per_misaligned_byte = generated->constants().per_misaligned_byte;
  }
  model.constants_ =
      GemmConstants::from_values(known_or_found(constants, GemmConstants::kCount, [&] {
        return fit_constants(whole_gpu, model.menu_, start).values();
      }));
  // A prediction takes the fastest tile of the menu, so on average it errs low. The correction is
  // fitted to such predictions, not to the tiles that the library told.
  for (Row& row : whole_gpu) row.library_tile.reset();
  model.correction_ = fit_correction(whole_gpu, model.menu_, model.constants_);
  // Without an allowance for the launch: the fastest tile of a menu is predicted too fast anyway.
  model.least_per_mac_ = fastest_per_mac(rows);
  model.all_sms_ = all_sms;
  constexpr double kPriorWeight = 3;  // towards a factor of 1, where few were probed
  double log = 0;
  for (const Row& row : partial) {
    log += std::log(row.time / model.time(row.probe.m, row.probe.n, row.probe.k, row.sms));
  }
  model.partial_ = std::exp(log / (static_cast<double>(partial.size()) + kPriorWeight));
  return model;
}

double LibraryGemmModel::time(int blocks, std::int64_t rows, std::int64_t n, std::int64_t k,
                              int sms) const {
  const GemmWork work = library_work({.m = rows, .n = n, .k = k, .elements = elements_}, blocks,
                                     sms, menu_, constants_);
  return (sms < all_sms_ ? partial_ : 1) *
         whole(work, corrected(tile_bounds(work, constants_), correction_, work, least_per_mac_),
               constants_);
}

}  // namespace overlaptune
