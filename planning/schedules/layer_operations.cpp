// The operations of a layer, forward and backward, divided as Megatron-LM divides it (Shoeybi et
// al. 2019; sequence parallelism: Korthikanti et al. 2022).

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "planning/schedules/layer_times.hpp"
#include "planning/schedules/step_graph.hpp"

namespace overlaptune {
namespace {

constexpr double kElementBytes = 2;           // of an element in bf16 or fp16
constexpr double kBackwardOfAttention = 2.5;  // five products backward, two forward

/// Sizes of one GPU.
struct Sizes {
  std::int64_t rows = 0;        ///< tokens that a layer sees
  std::int64_t local_rows = 0;  ///< tokens of norms and residuals
  std::int64_t hidden = 0;
  std::int64_t queries = 0;  ///< width of the queries
  std::int64_t values = 0;   ///< width of attention's output
  std::int64_t qkv = 0;
  std::int64_t width = 0;    ///< of the MLP
  std::int64_t gate_up = 0;  ///< outputs of gate and up together
};

Expected<Sizes> sizes_of(const ModelConfig& config, const StepShape& shape) {
  const auto not_divided = [&](const std::string& field, std::int64_t value) {
    return bad_input(fmt::format("{}: {} = {}: expected a multiple of --tp {}", config.name, field,
                                 value, shape.tp));
  };
  if (const std::string why = why_not_alike(config); !why.empty()) {
    return bad_input(
        fmt::format("{}: {}: expected dense layers that are all alike", config.name, why));
  }
  if (config.heads % shape.tp != 0) return not_divided("num_attention_heads", config.heads);
  if (config.intermediate % shape.tp != 0) {
    return not_divided("intermediate_size", config.intermediate);
  }
  // With fewer key heads than GPUs, several GPUs have the same head.
  if (config.kv_heads % shape.tp != 0 && shape.tp % config.kv_heads != 0) {
    return bad_input(
        fmt::format("{}: num_key_value_heads = {}: expected a multiple or a divisor of --tp {}",
                    config.name, config.kv_heads, shape.tp));
  }
  Sizes sizes{.rows = shape.micro_batch * shape.tokens, .hidden = config.hidden};
  const bool divided = shape.sequence_parallel && shape.tp > 1;
  if (divided && sizes.rows % shape.tp != 0) {
    return bad_input(
        fmt::format("--tokens: {} in a micro-batch: expected a multiple of --tp {} with sequence "
                    "parallelism",
                    sizes.rows, shape.tp));
  }
  if (sizes.rows > kLargestSize) {
    return bad_input(
        fmt::format("--tokens: {} in a micro-batch: expected at most 2^31 - 1", sizes.rows));
  }
  const std::int64_t heads = config.heads / shape.tp;
  const std::int64_t kv_heads = std::max<std::int64_t>(config.kv_heads / shape.tp, 1);
  sizes.local_rows = divided ? sizes.rows / shape.tp : sizes.rows;
  sizes.queries = heads * config.head_dim;
  sizes.values = heads * config.value_head_dim;
  sizes.qkv = sizes.queries + kv_heads * (config.head_dim + config.value_head_dim);
  sizes.width = config.intermediate / shape.tp;
  sizes.gate_up = sizes.width * (config.gated ? 2 : 1);
  return sizes;
}

/// A product of a layer with a weight.
struct Projection {
  std::string name{};  ///< in the names of its tasks
  Elements elements = Elements::bf16;
};

/// The products of a layer in their order.
struct Projections {
  Projection qkv{};
  Projection o{};
  Projection gate_up{};
  Projection down{};
};

Projections projections_of(const ModelConfig& config) {
  const Product up = config.gated ? Product::gate_up : Product::up;
  return {.qkv = {"qkv", elements_of_product(config, Product::qkv)},
          .o = {"o", elements_of_product(config, Product::o)},
          .gate_up = {"gate_up", elements_of_product(config, up)},
          .down = {"down", elements_of_product(config, Product::down)}};
}

/// Adds tasks to a pass. The first cost that is not known ends it all (a `Failure`, which
/// `layer_operations` turns into a value).
class Builder {
 public:
  Builder(Phase phase, const StepShape& shape, const StepCosts& costs)
      : phase_(phase), shape_(shape), costs_(costs) {}

  int pointwise(const std::string& kind, LayerWork work, double elements, std::vector<int> after) {
    return moving(kind, work, elements * kElementBytes, std::move(after));
  }
  /// Reads so many elements of 16 bits and writes the operands of a product. Rows with scales of
  /// their own are read twice: for their largest number, and to be divided (docs/step.md, "Models
  /// of 8 bits"). One scale for all is taken as known before.
  int quantise(const Projection& of, double elements, std::vector<int> after) {
    const double reads = scales_of(of.elements) == Scales::rows ? 2 : 1;
    const double bytes = reads * kElementBytes + static_cast<double>(operand_bytes(of.elements));
    return moving("quantise " + of.name, LayerWork::quantise, elements * bytes, std::move(after));
  }
  int attention(const std::string& kind, double flops, double elements, std::vector<int> after) {
    const double compute = flops / costs_.attention_flops_per_us;
    const double memory = elements * kElementBytes / costs_.bytes_per_us;
    const bool bound = compute >= memory;
    const int task = add_measurable(kind, LayerWork::attention, flops,
                                    {std::max(compute, memory) + costs_.launch_us,
                                     bound ? costs_.attention_source : costs_.memory_source,
                                     bound ? costs_.attention_doubt : costs_.memory_doubt},
                                    std::move(after));
    if (bound) pass_.tasks.back().task.beside_fused = costs_.attention_beside_fused;
    return task;
  }
  int gemm(const std::string& kind, const GemmSize& size, Elements elements,
           std::vector<int> after) {
    const int task = add(kind, value_or_throw(costs_.gemm(size, elements)), std::move(after));
    pass_.tasks.back().task.is_gemm = true;
    pass_.tasks.back().task.elements = elements;
    pass_.tasks.back().size = size;
    return task;
  }
  int weight_gradient(const std::string& kind, const GemmSize& size, Elements elements,
                      std::vector<int> after) {
    const int task = gemm(kind, size, elements, std::move(after));
    pass_.tasks.back().is_weight_gradient = true;
    return task;
  }
  int collective(const std::string& kind, Collective op, double bytes, std::vector<int> after) {
    const int task =
        add(kind, value_or_throw(costs_.tensor_parallel(op, bytes, shape_.tp)), std::move(after));
    Task& mine = pass_.tasks.back().task;
    if (const auto work = parse_name<LayerWork>(to_string(op))) {
      mine.probe = probe_of(*work, bytes, shape_.tp);
    }
    mine.resource = Resource::links;
    mine.traffic = to_string(op);
    return task;
  }
  /// The GEMM and its collective, if an overlapped config of the problem is known.
  void fusion(Op op, int compute, int links) {
    const LayerTask& gemm = pass_.tasks[static_cast<std::size_t>(compute)];
    const auto& [m, n, k] = gemm.size;
    const auto cost = costs_.fused(
        {.op = op, .m = m, .n = n, .k = k, .elements = gemm.task.elements, .ranks = shape_.tp});
    if (!cost) return;
    pass_.fusions.push_back(
        {.compute = compute,
         .links = links,
         .kind = fmt::format("{} + {}", kind_of(compute), to_string(collective_of(op))),
         .us = cost->us,
         .source = cost->source,
         .doubt = cost->doubt,
         .extra_loads = cost->extra_loads});
  }
  LayerPass done(std::vector<int> first, int last, std::vector<int> weights) {
    pass_.first = std::move(first);
    pass_.last = last;
    pass_.weights = std::move(weights);
    return std::move(pass_);
  }

 private:
  [[nodiscard]] const std::string& kind_of(int task) const {
    return pass_.tasks[static_cast<std::size_t>(task)].task.kind;
  }
  /// A kernel that reads and writes so many bytes.
  int moving(const std::string& kind, LayerWork work, double bytes, std::vector<int> after) {
    return add_measurable(
        kind, work, bytes,
        {bytes / costs_.bytes_per_us + costs_.launch_us, costs_.memory_source, costs_.memory_doubt},
        std::move(after));
  }
  /// None where no row can hold the amount.
  static std::optional<LayerProbe> probe_of(LayerWork work, double amount, int ranks) {
    if (!(amount >= 1 && amount <= static_cast<double>(kMostLayerAmount))) return std::nullopt;
    return LayerProbe{work, std::llround(amount), ranks};
  }
  /// An operation of one GPU that `LayerProbe` has. The kernel of a backward one was not measured:
  /// it is taken to run as fast as a forward one of its amount.
  int add_measurable(const std::string& kind, LayerWork work, double amount, Cost assumed,
                     std::vector<int> after) {
    const auto probe = probe_of(work, amount, 1);
    std::optional<Cost> stored;
    if (probe && costs_.stored) stored = costs_.stored(*probe);
    if (stored && phase_ != Phase::forward) {
      stored->source = kAsForward;
      stored->doubt = assumed.doubt;
    }
    const int task = add(kind, stored ? *std::move(stored) : std::move(assumed), std::move(after));
    if (phase_ == Phase::forward) pass_.tasks.back().task.probe = probe;
    return task;
  }
  int add(const std::string& kind, Cost cost, std::vector<int> after) {
    pass_.tasks.push_back({.task = {.kind = fmt::format("{} {}", to_string(phase_), kind),
                                    .phase = phase_,
                                    .us = cost.us,
                                    .slows = cost.slows,
                                    .slowed = cost.slowed,
                                    .beside_fused = cost.beside_fused,
                                    .after = std::move(after),
                                    .source = std::move(cost.source),
                                    .doubt = cost.doubt}});
    return static_cast<int>(pass_.tasks.size()) - 1;
  }

  Phase phase_;
  const StepShape& shape_;
  const StepCosts& costs_;
  LayerPass pass_{};
};

double product(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b);
}

/// The layer and how it is divided.
class Layer {
 public:
  Layer(const ModelConfig& config, const StepShape& shape, const StepCosts& costs,
        const Sizes& sizes)
      : config_(config),
        shape_(shape),
        costs_(costs),
        sizes_(sizes),
        products_(projections_of(config)) {}

  [[nodiscard]] LayerPass forward() const {
    Builder add(Phase::forward, shape_, costs_);
    const auto& [rows, local, hidden, queries, values, qkv_width, width, gate_up_width] = sizes_;
    // Residual and norm are one kernel: it reads and writes two tensors.
    const int norm1 =
        add.pointwise("attention norm", LayerWork::norm, 4 * product(local, hidden), {});
    const int qkv = column_parallel(add, products_.qkv, norm1, qkv_width);
    const int rope = add.pointwise("rope", LayerWork::rope,
                                   2 * product(rows, qkv_width - values_of_keys()), {qkv});
    const int attention =
        add.attention("attention", attention_flops(), product(rows, qkv_width + values), {rope});
    const auto [o, o_sum] = row_parallel(add, products_.o, attention, values);
    const int norm2 =
        add.pointwise("mlp norm", LayerWork::norm, 4 * product(local, hidden), {o_sum});
    const int gate_up = column_parallel(add, products_.gate_up, norm2, gate_up_width);
    const int activation = add.pointwise("activation", LayerWork::activation,
                                         product(rows, gate_up_width + width), {gate_up});
    const auto [down, down_sum] = row_parallel(add, products_.down, activation, width);
    return add.done({norm1}, down_sum, {qkv, o, gate_up, down});
  }

  [[nodiscard]] LayerPass backward() const {
    Builder add(Phase::backward, shape_, costs_);
    const auto& [rows, local, hidden, queries, values, qkv_width, width, gate_up_width] = sizes_;
    std::vector<int> first;
    const auto [down, down_gradient] = of_row_parallel(add, products_.down, {}, width, first);
    if (first.empty()) first = {down, down_gradient};
    const int activation = add.pointwise("activation", LayerWork::activation,
                                         product(rows, 2 * gate_up_width + width), {down});
    const int gate_up =
        of_column_parallel(add, products_.gate_up, activation, gate_up_width, first);
    const int norm2 =
        add.pointwise("mlp norm", LayerWork::norm, 4 * product(local, hidden), {gate_up});
    std::vector<int> none;
    const auto [o, o_gradient] = of_row_parallel(add, products_.o, {norm2}, values, none);
    const int attention = add.attention("attention", kBackwardOfAttention * attention_flops(),
                                        2 * product(rows, qkv_width + values), {o});
    const int rope = add.pointwise("rope", LayerWork::rope,
                                   2 * product(rows, qkv_width - values_of_keys()), {attention});
    const int qkv = of_column_parallel(add, products_.qkv, rope, qkv_width, first);
    const int norm1 =
        add.pointwise("attention norm", LayerWork::norm, 4 * product(local, hidden), {qkv});
    return add.done(std::move(first), norm1, {});
  }

 private:
  [[nodiscard]] bool is_divided() const { return shape_.tp > 1; }
  [[nodiscard]] bool is_sequence() const { return is_divided() && shape_.sequence_parallel; }
  [[nodiscard]] std::int64_t values_of_keys() const {
    return (sizes_.qkv - sizes_.queries) * config_.value_head_dim /
           (config_.head_dim + config_.value_head_dim);
  }
  /// Two products, as far as the mask leaves them.
  [[nodiscard]] double attention_flops() const {
    return unmasked_share(config_) * 2 * product(sizes_.rows, shape_.tokens) *
           static_cast<double>(sizes_.queries + sizes_.values);
  }

  /// Bytes of all rows of hidden states, whose elements have so many bytes.
  [[nodiscard]] double hidden_bytes(std::int64_t bytes_of_element) const {
    return static_cast<double>(bytes_of_element) * product(sizes_.rows, sizes_.hidden);
  }
  /// Makes the operand of a product from an input of so many elements. Returns the task with it.
  static int operand(Builder& add, const Projection& of, int input, double elements) {
    return is_quantised(of.elements) ? add.quantise(of, elements, {input}) : input;
  }
  /// A product whose outputs are divided. Returns the GEMM.
  int column_parallel(Builder& add, const Projection& of, int input, std::int64_t n) const {
    input = operand(add, of, input, product(sizes_.local_rows, sizes_.hidden));
    const GemmSize size{sizes_.rows, n, sizes_.hidden};
    if (!is_sequence()) return add.gemm(of.name, size, of.elements, {input});
    const int gather = add.collective("all_gather of " + of.name, Collective::all_gather,
                                      hidden_bytes(operand_bytes(of.elements)), {input});
    const int gemm = add.gemm(of.name, size, of.elements, {gather});
    add.fusion(Op::all_gather_gemm, gemm, gather);
    return gemm;
  }
  /// The sum over GPUs after the product `name`. Returns the task with the result.
  int summed(Builder& add, const std::string& name, int gemm, Elements elements) const {
    if (!is_divided()) return gemm;
    const Op op = is_sequence() ? Op::gemm_reduce_scatter : Op::gemm_all_reduce;
    const Collective sum = collective_of(op);
    const int result = add.collective(fmt::format("{} of {}", to_string(sum), name), sum,
                                      hidden_bytes(result_bytes(elements)), {gemm});
    add.fusion(op, gemm, result);
    return result;
  }
  /// A product whose inputs are divided. Returns the GEMM and the task with the result.
  std::pair<int, int> row_parallel(Builder& add, const Projection& of, int input,
                                   std::int64_t k) const {
    input = operand(add, of, input, product(sizes_.rows, k));
    const int gemm = add.gemm(of.name, {sizes_.rows, sizes_.hidden, k}, of.elements, {input});
    return {gemm, summed(add, of.name, gemm, of.elements)};
  }
  /// Gradients of a product whose inputs are divided. Returns the GEMMs of inputs and weights.
  std::pair<int, int> of_row_parallel(Builder& add, const Projection& of, std::vector<int> input,
                                      std::int64_t k, std::vector<int>& first) const {
    int gather = -1;
    if (is_sequence()) {
      gather = add.collective("all_gather for " + of.name, Collective::all_gather,
                              hidden_bytes(operand_bytes(of.elements)), std::move(input));
      input = {gather};
      first.push_back(gather);
    }
    const int inputs =
        add.gemm(of.name + " dgrad", {sizes_.rows, k, sizes_.hidden}, of.elements, input);
    if (gather >= 0) add.fusion(Op::all_gather_gemm, inputs, gather);
    return {inputs, add.weight_gradient(of.name + " wgrad", {sizes_.hidden, k, sizes_.rows},
                                        of.elements, input)};
  }
  /// Gradients of a product whose outputs are divided. Returns the task with that of the inputs.
  int of_column_parallel(Builder& add, const Projection& of, int input, std::int64_t n,
                         std::vector<int>& first) const {
    const int inputs =
        add.gemm(of.name + " dgrad", {sizes_.rows, sizes_.hidden, n}, of.elements, {input});
    const int result = summed(add, of.name + " dgrad", inputs, of.elements);
    std::vector<int> needed{input};
    if (is_sequence()) {  // each GPU has kept its part of the input only
      needed.push_back(add.collective("all_gather for " + of.name + " wgrad",
                                      Collective::all_gather,
                                      hidden_bytes(operand_bytes(of.elements)), {}));
      first.push_back(needed.back());
    }
    add.weight_gradient(of.name + " wgrad", {n, sizes_.hidden, sizes_.rows}, of.elements,
                        std::move(needed));
    return result;
  }

  const ModelConfig& config_;
  const StepShape& shape_;
  const StepCosts& costs_;
  const Sizes& sizes_;
  Projections products_;
};

}  // namespace

Elements elements_of_layer(const ModelConfig& config) {
  const auto [qkv, o, gate_up, down] = projections_of(config);
  for (const Projection* each : {&qkv, &o, &gate_up, &down}) {
    if (is_quantised(each->elements)) return each->elements;
  }
  return qkv.elements;
}

Expected<void> check_layers(const ModelConfig& config, const StepShape& shape) {
  if (const auto sizes = sizes_of(config, shape); !sizes) return error_of(sizes);
  const Elements elements = elements_of_layer(config);
  if (shape.scope == Scope::step && is_quantised(elements)) {
    return bad_input(
        fmt::format("{}: products of {} have no backward pass: expected --scope layer or "
                    "--scope forward",
                    config.name, to_string(elements)));
  }
  return {};
}

Expected<LayerOperations> layer_operations(const ModelConfig& config, const StepShape& shape,
                                           const StepCosts& costs) {
  if (const auto checked = check_layers(config, shape); !checked) return error_of(checked);
  const auto sizes = sizes_of(config, shape);
  if (!sizes) return error_of(sizes);
  return outcome_of([&] {
    const Layer layer(config, shape, costs, *sizes);
    LayerOperations made{.forward = layer.forward()};
    if (shape.scope == Scope::step) made.backward = layer.backward();
    made.parameters = product(sizes->hidden, sizes->qkv + sizes->values) +
                      product(sizes->hidden, sizes->gate_up + sizes->width);
    return made;
  });
}

}  // namespace overlaptune
