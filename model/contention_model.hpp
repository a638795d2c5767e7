#pragma once
// The factors by which a GEMM and a collective slow each other while both run.

#include <span>
#include <vector>

#include "core/config/strategies.hpp"
#include "core/measurement.hpp"
#include "model/clock_model.hpp"
#include "model/collective_model.hpp"
#include "model/feed_model.hpp"
#include "model/gemm_model.hpp"

namespace overlaptune {

/// The largest factor on a GEMM. Overlap does not pay where a GEMM is slowed more than this.
inline constexpr double kLargestGemmSlowdown = 4;

struct Slowdown {
  double gemm = 1;        ///< 1 to `kLargestGemmSlowdown`
  double collective = 1;  ///< at least 1
};

/// The time until a collective without SMs of its own gets them from the GEMM that it slows by
/// `gemm_slowdown`. That factor tells the share of the SMs; tiles end evenly over `tile_time`.
[[nodiscard]] inline double until_handed_over(double gemm_slowdown, double tile_time) {
  return (1 - 1 / gemm_slowdown) * tile_time;
}

class ContentionModel {
 public:
  /// Fits the factors to concurrent probes, compared with the GEMM and the collective alone. A
  /// concurrent probe is not used if one of the two was not probed alone. All GEMMs are of one rate
  /// class. `generated` is null if generated kernels were never probed.
  [[nodiscard]] static ContentionModel fit(std::span<const Measurement> measurements,
                                           const LaunchModel& launch, const ClockModel& clock,
                                           const CollectiveModel& collectives,
                                           const GemmModel* generated, int all_sms);

  /// The factors of collectives of about `bytes` each beside a GEMM of this depth and family. They
  /// are linear in log bytes and in 1/k between the probed points, and constant beyond. A key that
  /// was not probed has the factors of the probed one nearest in CTAs; {1, 1} if none of its op,
  /// rank count and transport was probed.
  /// The factors of a generated GEMM are those of the library's GEMM times the ratio of the two.
  /// The ratio is taken where both were probed, and is linear in log CTAs between. It holds for the
  /// tile with the most probes (see `feed`).
  [[nodiscard]] Slowdown operator()(const CollectiveKey& key, double bytes, std::int64_t k,
                                    GemmFamily family) const;

  /// Whether exactly this key was probed beside a GEMM.
  [[nodiscard]] bool knows(const CollectiveKey& key) const;
  /// Whether the key, or one that differs only in CTAs, was probed beside a GEMM.
  [[nodiscard]] bool knows_like(const CollectiveKey& key) const;

  /// How other tiles of generated GEMMs differ from the tile with the most probes.
  [[nodiscard]] const FeedModel& feed() const { return feed_; }

 private:
  struct Point {
    double log_bytes = 0;
    Slowdown slowdown{};
  };
  struct Depth {
    double per_k = 0;  ///< -1 / k; 1 / k is the share of its time in which a GEMM loads from memory
    std::vector<Point> points{};
  };
  /// A collective beside GEMMs of one family.
  struct Setting {
    CollectiveKey collective{};
    GemmFamily family{};
    std::vector<Depth> depths{};
  };
  /// The setting nearest in CTAs; null if none of this op, rank count and transport was probed.
  [[nodiscard]] const Setting* nearest(const CollectiveKey& key, GemmFamily family) const;
  [[nodiscard]] static Slowdown at(const Setting& setting, double bytes, std::int64_t k);

  std::vector<Setting> settings_;
  FeedModel feed_{};
};

}  // namespace overlaptune
