#pragma once
// GEMM alone: constants fitted to probes, and a correction for what they do not explain. Times are
// microseconds at full clock, without the launch.

#include <map>
#include <span>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "core/measurement.hpp"
#include "model/clock_model.hpp"
#include "model/gemm_physics.hpp"
#include "model/launch_model.hpp"

namespace overlaptune {

/// What probes of one layer's GEMMs (n, k) leave unexplained: logarithms of measured over predicted
/// time. A layer that was probed with many tiles is predicted better than one that was not.
class LayerResiduals {
 public:
  void add(const Tile& tile, double log_m, double residual);
  /// The residual of the same tile at the nearest m, else the mean, which is drawn towards 0 where
  /// few are known.
  [[nodiscard]] double at(const Tile& tile, double log_m) const;

 private:
  struct Seen {
    double log_m = 0;
    double residual = 0;
  };
  std::map<Tile, std::vector<Seen>> tiles_{};
  double sum_ = 0;
  int count_ = 0;
};

/// Generated kernels, whose tile is given, of one rate class.
class GemmModel {
 public:
  /// From the probes with a tile, all of one rate class. Error: fewer than twice the constants.
  [[nodiscard]] static Expected<GemmModel> fit(std::span<const Measurement> measurements,
                                               const LaunchModel& launch, const ClockModel& clock,
                                               int all_sms, const GpuLimits& limits);

  [[nodiscard]] GemmWork work(const Tile& tile, const TileOrder& order, std::int64_t k,
                              int sms) const;

  /// One tile at full clock.
  [[nodiscard]] double tile_time(const GemmWork& work) const;

  /// From the start of the kernel until its first `tiles` tiles are done, at full clock.
  [[nodiscard]] double produced(double tile_time, std::int64_t tiles, int sms,
                                bool persistent = true) const {
    return per_launch(persistent) + overlaptune::produced(tile_time, tiles, sms, constants_.spread);
  }
  /// What a launch takes beside its tiles: where each starts by itself, it is in their time.
  [[nodiscard]] double per_launch(bool persistent) const {
    return persistent ? constants_.per_launch : 0;
  }

  /// The GEMM of a probe with a tile, at full clock. Not persistent: each tile has a CTA of its
  /// own.
  [[nodiscard]] double whole(const GemmProbe& probe, int sms, bool persistent = true) const;

  /// One tile of that GEMM.
  [[nodiscard]] double tile_time(const GemmProbe& probe, int sms, bool persistent) const;

  /// How much longer that GEMM's tiles take where operands come so many times slower.
  [[nodiscard]] double fed_slower(const GemmProbe& probe, int sms, double times) const;

  [[nodiscard]] const GemmConstants& constants() const { return constants_; }

 private:
  [[nodiscard]] GemmWork work(const GemmProbe& probe, int sms) const;

  GpuLimits limits_{};
  GemmConstants constants_{};
  Eigen::VectorXd correction_{};  // added to the logarithm of the tile time, by `features`
  std::map<std::pair<std::int64_t, std::int64_t>, LayerResiduals> layers_{};  // by n, k
};

/// The library's kernels of one rate class. The library takes the best tile of its menu: the tiles
/// that it was seen to choose, or what libraries usually offer if it does not tell.
class LibraryGemmModel {
 public:
  /// From the probes without a tile, all of one rate class. Error: fewer than twice the constants.
  [[nodiscard]] static Expected<LibraryGemmModel> fit(std::span<const Measurement> measurements,
                                                      const LaunchModel& launch,
                                                      const ClockModel& clock, int all_sms);

  /// The whole GEMM at full clock on `sms` SMs.
  [[nodiscard]] double time(std::int64_t m, std::int64_t n, std::int64_t k, int sms) const {
    return time(1, m, n, k, sms);
  }
  /// `blocks` products of `rows` rows each that share B, in one batch.
  [[nodiscard]] double time(int blocks, std::int64_t rows, std::int64_t n, std::int64_t k,
                            int sms) const;

  [[nodiscard]] const GemmConstants& constants() const { return constants_; }

 private:
  Dtype dtype_{};
  std::vector<Tile> menu_{};
  GemmConstants constants_{};
  Eigen::VectorXd correction_{};
  int all_sms_ = 0;
  /// Factor where some SMs are taken: clusters of thread blocks need whole groups of free ones, and
  /// the library's kernels are made for all.
  double partial_ = 1;
};

}  // namespace overlaptune
