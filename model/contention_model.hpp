#pragma once
// By which factors a GEMM and a collective slow each other while both run.

#include <span>
#include <vector>

#include "core/measurement.hpp"
#include "core/strategies.hpp"
#include "model/clock_model.hpp"
#include "model/collective_model.hpp"
#include "model/feed_model.hpp"
#include "model/gemm_model.hpp"

namespace overlaptune {

/// Where a GEMM is slowed more than this, nobody overlaps.
inline constexpr double kLargestGemmSlowdown = 4;

struct Slowdown {
  double gemm = 1;        ///< 1 to `kLargestGemmSlowdown`
  double collective = 1;  ///< at least 1
};

/// The time until a collective without SMs of its own has those that it takes from a GEMM which it
/// slows so: tiles end evenly over the time of one.
[[nodiscard]] inline double until_handed_over(double gemm_slowdown, double tile_time) {
  return (1 - 1 / gemm_slowdown) * tile_time;
}

class ContentionModel {
 public:
  /// Learns from concurrent probes and, for the times apart, the GEMM and collective probes of the
  /// same points. Where one of these is missing the concurrent probe is not used. All GEMMs are of
  /// one rate class. `generated`: null where generated kernels were never probed.
  [[nodiscard]] static ContentionModel fit(std::span<const Measurement> measurements,
                                           const LaunchModel& launch, const ClockModel& clock,
                                           const CollectiveModel& collectives,
                                           const GemmModel* generated, int all_sms);

  /// The factors of collectives of about `bytes` each beside a GEMM of this depth and family.
  /// Linear in log bytes and in 1/k between what was probed, constant beyond. A setting that was
  /// not probed has those of the probed setting nearest in CTAs; {1, 1} if there is none of this
  /// transport. The factors of a generated GEMM are the library's times what differs where both
  /// were probed, linear in log CTAs between; they are those of the tile that most was probed with
  /// (see `feed`).
  [[nodiscard]] Slowdown operator()(const CollectiveKey& key, double bytes, std::int64_t k,
                                    GemmFamily family) const;

  /// Whether exactly this was probed beside a GEMM.
  [[nodiscard]] bool knows(const CollectiveKey& key) const;

  /// How other tiles of generated GEMMs differ from that one.
  [[nodiscard]] const FeedModel& feed() const { return feed_; }

 private:
  struct Point {
    double log_bytes = 0;
    Slowdown slowdown{};
  };
  struct Depth {
    double per_k = 0;  ///< -1 / k: what a GEMM asks of memory in its time goes with it
    std::vector<Point> points{};
  };
  /// A collective beside GEMMs of one family.
  struct Setting {
    CollectiveKey collective{};
    GemmFamily family{};
    std::vector<Depth> depths{};
  };
  /// The setting nearest in CTAs; null: none of this op, rank count and transport was probed.
  [[nodiscard]] const Setting* nearest(const CollectiveKey& key, GemmFamily family) const;
  [[nodiscard]] static Slowdown at(const Setting& setting, double bytes, std::int64_t k);

  std::vector<Setting> settings_;
  FeedModel feed_{};
};

}  // namespace overlaptune
