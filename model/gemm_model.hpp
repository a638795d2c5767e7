#pragma once
// The model of a GEMM alone: constants fitted to probes, and a correction for what they do not
// explain. Times are microseconds at full clock, without the launch.

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

/// The errors that remain at the probed GEMMs of one layer (n, k): logarithms of measured over
/// predicted time. They correct the predictions for that layer.
class LayerResiduals {
 public:
  void add(const Tile& tile, double log_m, double residual);
  /// The residual of the same tile at the nearest m. A tile that was not probed gets the mean of
  /// all residuals, which is drawn towards 0 where there are few.
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

/// Generated GEMMs of one rate class. Their tile is given.
class GemmModel {
 public:
  /// Fits to the probes with a given tile, all of one rate class. `constants` may be those of the
  /// same fit; if empty, it gets them. Error: fewer than 26 of them.
  [[nodiscard]] static Expected<GemmModel> fit(std::span<const Measurement> measurements,
                                               const LaunchModel& launch, const ClockModel& clock,
                                               int all_sms, const GpuLimits& limits,
                                               std::vector<double>* constants = nullptr);

  [[nodiscard]] GemmWork work(const Tile& tile, const TileOrder& order, std::int64_t k,
                              int sms) const;

  /// Time of one tile at full clock.
  [[nodiscard]] double tile_time(const GemmWork& work) const;

  /// Time from the start of the kernel until its first `tiles` tiles are done, at full clock.
  [[nodiscard]] double produced(double tile_time, std::int64_t tiles, int sms,
                                bool persistent = true) const {
    return per_launch(persistent) + overlaptune::produced(tile_time, tiles, sms, constants_.spread);
  }
  /// Time of a launch besides its tiles. If the GEMM is not persistent, the time of each tile
  /// contains it.
  [[nodiscard]] double per_launch(bool persistent) const {
    return persistent ? constants_.per_launch : 0;
  }

  /// Time of the GEMM of a probe with a given tile, at full clock. If it is not persistent, each
  /// tile has a CTA of its own.
  [[nodiscard]] double whole(const GemmProbe& probe, int sms, bool persistent = true) const;

  /// Time of one tile of that GEMM.
  [[nodiscard]] double tile_time(const GemmProbe& probe, int sms, bool persistent) const;

  /// Factor on the tile time of that GEMM if operands come `times` times more slowly.
  [[nodiscard]] double fed_slower(const GemmProbe& probe, int sms, double times) const;

  [[nodiscard]] const GemmConstants& constants() const { return constants_; }
  /// Whether enough probes have misaligned rows (`is_misaligned`), and many of them.
  [[nodiscard]] bool knows_misaligned() const { return knows_misaligned_; }

 private:
  [[nodiscard]] GemmWork work(const GemmProbe& probe, int sms) const;

  GpuLimits limits_{};
  bool knows_misaligned_ = false;
  GemmConstants constants_{};
  Eigen::VectorXd correction_{};  // coefficients of `features`; the sum is added to the logarithm
                                  // of the tile time
  double least_per_mac_ = 0;      // no correction makes a tile faster
  std::map<std::pair<std::int64_t, std::int64_t>, LayerResiduals> layers_{};  // by n, k
};

/// The library's GEMMs of one rate class. The library is taken to use the best tile of its menu:
/// the tiles that it was seen to choose or, if it does not tell, those that libraries usually
/// offer.
class LibraryGemmModel {
 public:
  /// Fits to the probes without a given tile, all of one rate class. `generated` tells how fast L2
  /// serves misaligned rows, which few of these probes have; may be null. `constants` as above.
  /// Error: fewer than 26 of them.
  [[nodiscard]] static Expected<LibraryGemmModel> fit(std::span<const Measurement> measurements,
                                                      const LaunchModel& launch,
                                                      const ClockModel& clock, int all_sms,
                                                      const GemmModel* generated,
                                                      std::vector<double>* constants = nullptr);

  /// Time of the whole GEMM at full clock on `sms` SMs.
  [[nodiscard]] double time(std::int64_t m, std::int64_t n, std::int64_t k, int sms) const {
    return time(1, m, n, k, sms);
  }
  /// Time of one batch of `blocks` products, which have `rows` rows each and share B.
  [[nodiscard]] double time(int blocks, std::int64_t rows, std::int64_t n, std::int64_t k,
                            int sms) const;

 private:
  Elements elements_{};
  std::vector<Tile> menu_{};
  GemmConstants constants_{};
  Eigen::VectorXd correction_{};
  double least_per_mac_ = 0;
  int all_sms_ = 0;
  /// Factor on the time where some SMs are taken: clusters of thread blocks need whole groups of
  /// free SMs, and the library's kernels are made for all SMs.
  double partial_ = 1;
};

}  // namespace overlaptune
