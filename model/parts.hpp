#pragma once
// The fitted parts of a model, as the strategies use them.

#include <map>
#include <optional>

#include "core/capabilities.hpp"
#include "core/fit.hpp"
#include "model/clock_model.hpp"
#include "model/collective_model.hpp"
#include "model/contention_model.hpp"
#include "model/curve.hpp"
#include "model/gemm_model.hpp"
#include "model/launch_model.hpp"
#include "model/model.hpp"
#include "model/unprobed_costs.hpp"

namespace overlaptune {

/// The models of the GEMMs of one rate class, by family.
struct ClassGemms {
  LibraryGemmModel library{};
  std::optional<GemmModel> generated{};  ///< absent where too few of them were probed
  ContentionModel contention{};          ///< both families of GEMMs beside collectives
};

struct Model::Parts {
  Platform platform{};
  Capabilities capabilities{};
  GpuLimits limits{};
  UnprobedCosts costs{};
  LaunchModel launch{};
  CollectiveModel collectives{};
  std::optional<Curve> copies{};  ///< from one GPU to the next by a copy engine; absent: not probed
  /// Bytes that the SMs of one GPU store into the memory of the next one per microsecond, by the
  /// probe with the most CTAs; absent: not probed.
  std::optional<double> store_rate{};
  ClockModel clock{};
  std::map<Elements, ClassGemms> gemms{};  ///< by rate class
  FittedConstants constants{};             ///< found by iterative fits

  /// The GEMMs of the dtype's rate class. Error: too few of them were probed.
  [[nodiscard]] Expected<const ClassGemms*> gemms_of(Elements elements) const;
  /// Those, with `ClassGemms::generated`. Error: it is absent, too.
  [[nodiscard]] Expected<const ClassGemms*> generated_gemms_of(Elements elements) const;
};

}  // namespace overlaptune
