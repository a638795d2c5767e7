#pragma once
// The times of the operations of a step on one platform: measured where a probe has the size, else
// predicted.

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/answer.hpp"
#include "core/measurement.hpp"
#include "core/platform.hpp"
#include "model/learned_model.hpp"
#include "planning/schedules/layer_times.hpp"
#include "planning/schedules/step_clock.hpp"
#include "planning/schedules/step_graph.hpp"

namespace overlaptune {

/// Rates that are known better than by measurements, or not by them.
struct KnownRates {
  std::optional<double> memory_gb_per_s{};
  std::optional<double> attention_tflops{};
  std::optional<double> data_parallel_gb_per_s{};  ///< of each GPU, one direction
};

/// The platform that times come from. `query/measured_platform.hpp` makes it from a database.
struct StepGrounds {
  const Platform& platform;
  const std::vector<Measurement>& measurements;
  const LearnedModel& model;
  std::function<Answer(const Problem&)> ask{};  ///< answers by CUDA graphs
};

/// The costs of one platform. It must outlive the functions that it gives.
class PlatformCosts {
 public:
  /// Throws `Failure`: nothing was probed; a rate that neither probe nor flag tells.
  PlatformCosts(StepGrounds grounds, const ModelConfig& config, const KnownRates& known);
  /// Costs at these clocks: GEMMs where operations run one after the other, and fused ones.
  [[nodiscard]] StepCosts costs(const StepClocks& clocks) const;
  /// The clocks of a step of this model. Throws `Failure`: as `layer_operations`.
  [[nodiscard]] StepClocks clocks(const ModelConfig& config, const StepShape& shape) const;
  [[nodiscard]] const std::vector<std::string>& sources() const { return sources_; }
  /// Whether the operations that are no GEMM and no collective have stored times or given rates.
  [[nodiscard]] bool are_known() const;

 private:
  [[nodiscard]] const Model::Parts& parts() const { return grounds_.model.analytic().parts(); }
  [[nodiscard]] const Measurement* measured(const Probe& probe) const;
  [[nodiscard]] Cost among_others(double us, std::string source, const Doubt& doubt) const;
  [[nodiscard]] Expected<Cost> gemm(const GemmSize& size, Elements elements, double slowdown) const;
  [[nodiscard]] Expected<Cost> collective(Collective op, double bytes, int ranks) const;
  [[nodiscard]] Expected<Cost> in_layer(Collective op, double bytes, int ranks) const;
  [[nodiscard]] Expected<Cost> across_replicas(Collective op, double bytes, int ranks) const;
  [[nodiscard]] Expected<double> sequential(const Problem& problem, const Cost& product) const;
  [[nodiscard]] std::optional<Cost> fused(const Problem& problem, double slowdown) const;
  [[nodiscard]] bool is_given(LayerWork work) const;
  [[nodiscard]] bool is_used(LayerWork work) const;
  [[nodiscard]] std::optional<Cost> stored(const LayerProbe& probe) const;

  StepGrounds grounds_;
  LayerTimes layer_times_;
  Elements elements_ = Elements::bf16;  ///< of the GEMMs beside which collectives run
  std::int64_t depth_ = 0;              ///< k of these GEMMs
  KnownRates known_;
  double bytes_per_us_ = 0;
  std::string memory_source_;
  double attention_flops_per_us_ = 0;
  std::vector<std::string> sources_;
};

}  // namespace overlaptune
