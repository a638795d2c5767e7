#pragma once
// By which factors a GEMM and a collective slow each other while both run.

#include <functional>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "core/measurement.hpp"
#include "model/clock_model.hpp"
#include "model/collective_model.hpp"
#include "model/gemm_model.hpp"

namespace overlaptune {

/// Beyond that nobody overlaps, and the search stays exact.
inline constexpr double kLargestGemmSlowdown = 1.9;

struct Slowdown {
  double gemm = 1;        ///< 1 to `kLargestGemmSlowdown`
  double collective = 1;  ///< at least 1
};

enum class GemmFamily { library, ours };

/// A collective takes from what L2 delivers to all SMs together: beside one operands come `times`
/// slower (see `fed_slower`), as what the probed tile is slowed tells. A tile that asks for more of
/// them is slowed more.
struct Feed {
  double times = 1;
  double probed = 1;  ///< what the probed tile is slowed by that
  double share = 0;   ///< of that difference which was seen where several tiles were probed
  Tile tile{};        ///< the probed one
  double collective_share = 0;  ///< likewise, of how much more a tile asks for

  /// Factors on what is slowed beside the probed tile.
  [[nodiscard]] double gemm_factor(const GemmWork& work, const GemmConstants& constants) const;
  [[nodiscard]] double collective_factor(const Tile& other) const;
};

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
  /// For ours: of the tile that most was probed with; for another `Feed` tells.
  [[nodiscard]] Slowdown operator()(const CollectiveKey& key, double bytes, std::int64_t k,
                                    GemmFamily family) const;

  /// Of a GEMM of ours of depth `k` whose probed tile is slowed so many times: see `Feed`.
  [[nodiscard]] Feed feed(const GemmModel& tiled, std::int64_t k, double slowdown) const;

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
  /// The GEMM of ours that most collectives were probed beside.
  struct Probed {
    GemmProbe gemm{};
    int sms = 0;
    double share = 0;  ///< as `Feed`'s
    double collective_share = 0;
  };
  using SlowdownOf = std::function<std::optional<double>(const Measurement&)>;
  /// Of the tiles probed beside a collective (with a GEMM of depth k) the one that most were.
  using UsualTiles = std::map<std::pair<CollectiveProbe, std::int64_t>, Tile>;
  UsualTiles fit_probed(std::span<const Measurement> measurements, const GemmModel& tiled,
                        int all_sms, const SlowdownOf& slowdown_of);
  /// In CTAs; null: none of this op, rank count and transport was probed.
  [[nodiscard]] const Setting* nearest(const CollectiveKey& key, GemmFamily family) const;
  [[nodiscard]] static Slowdown at(const Setting& setting, double bytes, std::int64_t k);

  std::vector<Setting> settings_;
  std::optional<Probed> probed_{};
};

}  // namespace overlaptune
