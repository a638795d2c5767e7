#pragma once
// The tasks of a transformer's layer, forward pass and training step (docs/step.md).

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "planning/schedules/task_graph.hpp"
#include "workload/model_config.hpp"

namespace overlaptune {

/// A time with its source: "measured", "predicted", "memory rate", …
struct Cost {
  double us = 0;
  std::string source{};
  Doubt doubt{};
  double extra_loads = 0;   ///< of a fused GEMM (`Fusion`)
  double beside_fused = 1;  ///< of a GEMM that is not fused (`Task`)
  double slows = 1;         ///< of a collective (`Task`)
  double slowed = 1;        ///< of a collective (`Task`)
};

struct GemmSize {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
};

/// Costs of the operations of a step on one platform. The errors name what is not known.
struct StepCosts {
  std::function<Expected<Cost>(const GemmSize&, Elements)> gemm{};
  /// `bytes` of the whole buffer, over `ranks` GPUs.
  std::function<Expected<Cost>(Collective, double bytes, int ranks)> tensor_parallel{};
  std::function<Expected<Cost>(Collective, double bytes, int ranks)> data_parallel{};
  /// A GEMM and its collective as one operation; none where nothing better than one after the
  /// other is known.
  std::function<std::optional<Cost>(const Problem&)> fused{};
  /// The stored time of a forward operation that is no GEMM and no collective; none where nothing
  /// is stored for its work, or a rate was given instead.
  std::function<std::optional<Cost>(const LayerProbe&)> stored{};
  double bytes_per_us = 0;  ///< of the GPU's memory
  std::string memory_source{};
  Doubt memory_doubt{};
  double attention_flops_per_us = 0;
  std::string attention_source{};
  Doubt attention_doubt{};
  double attention_beside_fused = 1;  ///< `Task::beside_fused`, where compute bounds it
  double launch_us = 0;               ///< of one more kernel in a graph, for pointwise operations
};

/// The part of the work that is planned.
enum class Scope { layer, forward, step };

template <>
struct NamesOf<Scope> {
  static constexpr std::string_view what = "scope";
  static constexpr std::array<Named<Scope>, 3> all{
      {{Scope::layer, "layer"}, {Scope::forward, "forward"}, {Scope::step, "step"}}};
};

struct StepShape {
  int tp = 1;  ///< GPUs that a layer is divided over
  int dp = 1;  ///< replicas, whose gradients are summed
  bool sequence_parallel = true;
  std::int64_t micro_batch = 1;  ///< sequences
  std::int64_t tokens = 0;       ///< of each sequence
  Scope scope = Scope::step;
  /// A weight gradient may be put off while so many more layers run backward. It keeps its inputs
  /// in memory until then.
  int put_off_layers = 1;
  bool gradient_norm = true;  ///< the optimiser waits for the norm of all gradients
};

/// An operation of a layer. `after` has the operations of the same pass and layer; -1 stands for
/// the result of the layer before it in the pass.
struct LayerTask {
  Task task{};
  GemmSize size{};  ///< of a GEMM
  bool is_weight_gradient = false;
};

/// One pass through a layer. `after` of its tasks counts within the pass.
struct LayerPass {
  std::vector<LayerTask> tasks{};
  std::vector<Fusion> fusions{};
  std::vector<int> first{};    ///< tasks that wait for the layer before
  int last = 0;                ///< the task whose result the next layer takes
  std::vector<int> weights{};  ///< tasks that need the layer's parameters first
};

/// The operations of one layer with their costs, from which graphs of any number of layers are
/// made.
struct LayerOperations {
  LayerPass forward{};
  LayerPass backward{};
  double parameters = 0;  ///< of one layer on one GPU
};

/// The elements of a layer's quantised products; of any product where none is quantised.
[[nodiscard]] Elements elements_of_layer(const ModelConfig& config);

/// Error: a model whose layers are not dense and alike; sizes that `tp` does not divide; a training
/// step with quantised products, which have no backward pass.
[[nodiscard]] Expected<void> check_layers(const ModelConfig& config, const StepShape& shape);

/// Error: as `check_layers`; costs that are not known.
[[nodiscard]] Expected<LayerOperations> layer_operations(const ModelConfig& config,
                                                         const StepShape& shape,
                                                         const StepCosts& costs);

/// The graph of `layers` layers, with a bucket of gradients and parameters for each
/// `bucket_layers` of them. Error: a collective of data parallelism whose cost is not known.
[[nodiscard]] Expected<TaskGraph> step_graph(const LayerOperations& operations,
                                             const StepShape& shape, const StepCosts& costs,
                                             int layers, int bucket_layers);

}  // namespace overlaptune
