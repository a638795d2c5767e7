#pragma once
// By which factors a GEMM and a collective slow each other while both run.

#include <span>
#include <vector>

#include "core/measurement.hpp"
#include "model/clock_model.hpp"
#include "model/collective_model.hpp"
#include "model/feed_model.hpp"
#include "model/gemm_model.hpp"

namespace overlaptune {

/// Beyond that nobody overlaps.
inline constexpr double kLargestGemmSlowdown = 4;

struct Slowdown {
  double gemm = 1;        ///< 1 to `kLargestGemmSlowdown`
  double collective = 1;  ///< at least 1
};

/// Until a collective without SMs of its own has those that it takes from a GEMM which it slows so:
/// tiles end evenly over the time of one.
[[nodiscard]] inline double until_handed_over(double gemm_slowdown, double tile_time) {
  return (1 - 1 / gemm_slowdown) * tile_time;
}

enum class GemmFamily { library, ours };

class ContentionModel {
 public:
  /// From concurrent probes and, for the times apart, the GEMM and collective probes of the same
  /// points. Where one of these is missing the concurrent probe is not used. `tiled`: null where
  /// our own kernels were never probed.
  [[nodiscard]] static ContentionModel fit(std::span<const Measurement> measurements,
                                           const LaunchModel& launch, const ClockModel& clock,
                                           const CollectiveModel& collectives,
                                           const GemmModel* tiled, int all_sms);

  /// For collectives of about `bytes` each beside a GEMM of this depth, the library's or ours.
  /// Linear in log bytes and log k between what was probed, constant beyond. Without a probe of the
  /// setting, of the probed setting nearest in CTAs; {1, 1} if there is none of this transport.
  /// Ours is the library's times what differs where both were probed, linear in log CTAs between.
  /// For ours: of the tile that most was probed with (see `feed`).
  [[nodiscard]] Slowdown operator()(const CollectiveKey& key, double bytes, std::int64_t k,
                                    GemmFamily family) const;

  /// Whether exactly this was probed beside a GEMM.
  [[nodiscard]] bool knows(const CollectiveKey& key) const;

  /// How tiles of ours differ from that one.
  [[nodiscard]] const FeedModel& feed() const { return feed_; }

 private:
  struct Point {
    double log_bytes = 0;
    Slowdown slowdown{};
  };
  struct Depth {
    double per_k = 0;  ///< -1 / k: what a GEMM asks of memory in its time goes with that
    std::vector<Point> points{};
  };
  /// A collective beside GEMMs of one family.
  struct Setting {
    CollectiveKey collective{};
    GemmFamily family{};
    std::vector<Depth> depths{};
  };
  /// In CTAs; null: none of this op, rank count and transport was probed.
  [[nodiscard]] const Setting* nearest(const CollectiveKey& key, GemmFamily family) const;
  [[nodiscard]] static Slowdown at(const Setting& setting, double bytes, std::int64_t k);

  std::vector<Setting> settings_;
  FeedModel feed_{};
};

}  // namespace overlaptune
