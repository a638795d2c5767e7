#pragma once
// The analytic model: predicted times of configs on one platform, from that platform's
// measurements. Pure functions over values: no GPU, no files, no clock.

#include <algorithm>
#include <memory>
#include <span>
#include <vector>

#include "core/config/work.hpp"
#include "core/fit.hpp"
#include "core/measurement.hpp"
#include "core/platform.hpp"
#include "core/timeline.hpp"

namespace overlaptune {

struct Prediction {
  Microseconds time{};        ///< time of the slowest rank, until the result is in place
  Microseconds gemm_alone{};  ///< time of the config's GEMM (all chunks), with nothing beside it
  Microseconds collective_alone{};  ///< time of the config's collectives, with nothing beside them
  Timeline timeline{};

  /// The time over what it would be if the shorter of the two cost nothing.
  [[nodiscard]] double over_ideal() const { return time / std::max(gemm_alone, collective_alone); }
};

/// A hash of all that the constants of a fit follow from: the platform, the measurements in their
/// order, and the sources of the model. Constants of another hash are of no use.
[[nodiscard]] std::uint64_t digest_of_fit(const Platform& platform,
                                          std::span<const Measurement> measurements);

/// A model is fitted once and does not change: any number of threads may use it.
class Model {
 public:
  /// `known`: the constants of the same fit, with which it takes a tenth of the time or less. A fit
  /// that is not among them is made. Error: the measurements lack what every prediction needs
  /// (library GEMM, collectives, launch costs); it names the missing probe.
  [[nodiscard]] static Expected<Model> fit(const Platform& platform,
                                           std::span<const Measurement> measurements,
                                           FittedConstants known = {});
  ~Model();
  Model(Model&&) noexcept;
  Model& operator=(Model&&) noexcept;

  /// Predicts a config. Error: what `check` refuses on the platform; something that it needs was
  /// never probed (collectives of this op, rank count and transport).
  [[nodiscard]] Expected<Prediction> predict(const Problem& problem, const Config& config,
                                             Launch launch) const;

  /// The time that a probe of a GEMM or of a collective would measure, with the replay of the
  /// graph. Error: another kind of probe; a collective, a dtype or generated GEMMs that were never
  /// probed.
  [[nodiscard]] Expected<Microseconds> predict(const Probe& probe) const;

  /// This model for plans that leave this number of SMs alone. What was measured on all SMs
  /// stays what it is: the GEMMs have fewer of them. At least one SM must stay.
  [[nodiscard]] Model leaving(int free_sms) const;

  [[nodiscard]] const Platform& platform() const;
  /// The constants that iterative fits found.
  [[nodiscard]] const FittedConstants& constants() const;

  struct Parts;  // model/parts.hpp: the fitted parts, for the search
  [[nodiscard]] const Parts& parts() const { return *parts_; }

 private:
  explicit Model(std::unique_ptr<const Parts> parts);
  std::unique_ptr<const Parts> parts_;
};

}  // namespace overlaptune
