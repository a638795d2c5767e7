#pragma once
// By which factors a GEMM and a collective slow each other while both run.

#include <map>
#include <span>
#include <vector>

#include "core/measurement.hpp"
#include "model/clock_model.hpp"
#include "model/collective_model.hpp"

namespace overlaptune {

struct Slowdown {
  double gemm = 1;        ///< 1 to 1.9: beyond that nobody overlaps, and the search stays exact
  double collective = 1;  ///< at least 1
};

enum class GemmFamily { library, ours };

class ContentionModel {
 public:
  /// From concurrent probes and, for the times apart, the GEMM and collective probes of the same
  /// points. Where one of these is missing the concurrent probe is not used.
  [[nodiscard]] static ContentionModel fit(std::span<const Measurement> measurements,
                                           const LaunchModel& launch, const ClockModel& clock,
                                           const CollectiveModel& collectives);

  /// For collectives of about `bytes` each beside a GEMM of this depth, the library's or ours.
  /// Linear in log bytes and log k between what was probed, constant beyond. Without a probe of the
  /// setting, of the probed setting nearest in CTAs; {1, 1} if there is none of this transport.
  /// Ours is the library's times what differs where both were probed.
  [[nodiscard]] Slowdown operator()(const CollectiveKey& key, double bytes, std::int64_t k,
                                    GemmFamily family) const;

 private:
  struct Point {
    double log_bytes = 0;
    Slowdown slowdown{};
  };
  struct Depth {
    double log_k = 0;
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
};

}  // namespace overlaptune
