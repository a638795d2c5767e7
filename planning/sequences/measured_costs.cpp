#include "planning/sequences/measured_costs.hpp"

#include <algorithm>
#include <cmath>
#include <string_view>

#include <fmt/format.h>

#include "core/base/units.hpp"
#include "planning/sequences/cost_fields.hpp"

namespace overlaptune {
namespace {

constexpr std::int64_t kRows = 8192;  // tokens of a GPU at which GEMMs are taken
constexpr std::int64_t kFewRows = 1024;
constexpr double kBytesPerElement = 2;        // bf16
constexpr double kBackwardOfAttention = 2.5;  // five products backward, two forward

/// One linear layer: n outputs, k inputs.
struct Linear {
  std::int64_t n = 0;
  std::int64_t k = 0;
};

std::vector<Linear> linears(const ModelConfig& config) {
  const std::int64_t queries = config.heads * config.head_dim;
  const std::int64_t keys = config.kv_heads * config.head_dim;
  const std::int64_t values = config.kv_heads * config.value_head_dim;
  return {{queries + keys + values, config.hidden},
          {config.hidden, config.heads * config.value_head_dim},
          {config.intermediate * (config.gated ? 2 : 1), config.hidden},
          {config.hidden, config.intermediate}};
}

double parameters_of(const ModelConfig& config) {
  double sum = 0;
  for (const Linear& linear : linears(config)) {
    sum += static_cast<double>(linear.n) * static_cast<double>(linear.k);
  }
  return sum * static_cast<double>(config.layers);
}

[[noreturn]] void bad_costs(const std::string& message) {
  throw Failure(ErrorKind::bad_input, message);
}

/// Throws: GEMMs were never probed.
double gemm(const Model& model, std::int64_t m, std::int64_t n, std::int64_t k) {
  return value_or_throw(model.predict(Probe(GemmProbe{.m = m, .n = n, .k = k}))).count();
}

/// Time of all linear layers for each token: forward (again where it is recomputed), the gradient
/// of the inputs, the gradient of the weights.
double linear_us(const ModelConfig& config, const Model& model, bool recompute) {
  double sum = 0;
  for (const auto& [n, k] : linears(config)) {
    const double forward = gemm(model, kRows, n, k);
    const double inputs = gemm(model, kRows, k, n);
    const double weights = gemm(model, n, k, kRows);
    sum += forward * (recompute ? 2 : 1) + inputs + weights;
  }
  return sum * static_cast<double>(config.layers) / static_cast<double>(kRows);
}

/// Time of attention for each token squared, as far as the mask leaves both products.
double quadratic_us(const ModelConfig& config, const Model& model, const MeasuredRequest& request) {
  const double passes = (request.recompute ? 2 : 1) + kBackwardOfAttention;
  const auto heads = static_cast<double>(config.heads * config.layers);
  if (request.known.attention_tflops) {
    const auto width = static_cast<double>(config.head_dim + config.value_head_dim);
    return unmasked_share(config) * heads * 2 * width / (*request.known.attention_tflops * 1e6) *
           passes;
  }
  const double scores = gemm(model, kRows, kRows, config.head_dim);
  const double outputs = gemm(model, kRows, config.value_head_dim, kRows);
  const auto rows = static_cast<double>(kRows);
  return unmasked_share(config) * heads * (scores + outputs) / (rows * rows) * passes;
}

/// Elements of the four tensors that attention exchanges, for each token. A GPU that holds less
/// than one key head gets a copy of a whole one.
double exchanged_elements(const ModelConfig& config, int degree) {
  const std::int64_t kv_heads = std::max<std::int64_t>(config.kv_heads, degree);
  return static_cast<double>(config.heads * config.head_dim + config.heads * config.value_head_dim +
                             kv_heads * (config.head_dim + config.value_head_dim));
}

/// The cost of the all-to-alls of one degree: a line through the measured times of two sizes.
struct Exchange {
  double us_per_token = 0;
  double fixed_us = 0;
};

std::optional<Exchange> measured_exchange(const ModelConfig& config, std::span<const Model> models,
                                          int degree) {
  const double bytes_per_row = exchanged_elements(config, degree) / 4 * kBytesPerElement;
  const auto time = [&](const Model& model, std::int64_t rows) {
    return model.predict(Probe(
        CollectiveProbe{.collective = Collective::all_to_all,
                        .bytes = Bytes{std::llround(bytes_per_row * static_cast<double>(rows))},
                        .ranks = degree}));
  };
  for (const Model& model : models) {
    const auto few = time(model, kFewRows);
    const auto many = time(model, kRows);
    if (!few || !many) continue;
    // Rows are those of one GPU, a token of the group is 1/degree of a row.
    const double slope = (*many - *few).count() / static_cast<double>(kRows - kFewRows);
    const double calls = 8 * static_cast<double>(config.layers);
    return Exchange{calls * slope / degree,
                    calls * std::max(0.0, few->count() - slope * static_cast<double>(kFewRows))};
  }
  return std::nullopt;
}

/// ZeRO-3 gathers the parameters forward and backward and scatters the gradients; none of it is
/// taken to hide behind the GEMMs.
double zero_us(std::span<const Model> models, double parameters, int gpus) {
  const auto bytes = Bytes{std::llround(parameters * kBytesPerElement)};
  for (const Model& model : models) {
    const auto gather = model.predict(Probe(
        CollectiveProbe{.collective = Collective::all_gather, .bytes = bytes, .ranks = gpus}));
    const auto scatter = model.predict(Probe(
        CollectiveProbe{.collective = Collective::reduce_scatter, .bytes = bytes, .ranks = gpus}));
    if (gather && scatter) return 2 * gather->count() + scatter->count();
  }
  return 0;
}

/// The collectives of `zero_us` at the rate that was given for groups of all GPUs.
double zero_us_between_nodes(const MeasuredRequest& request, double parameters) {
  const auto rate = request.known.bytes_per_us.find(request.gpus);
  return rate == request.known.bytes_per_us.end()
             ? 0
             : 3 * parameters * kBytesPerElement / rate->second;
}

/// Bytes that the backward pass needs of each token (docs/sequences.md).
double activation_bytes(const ModelConfig& config, bool recompute) {
  const auto hidden = static_cast<double>(config.hidden);
  const auto layers = static_cast<double>(config.layers);
  const double attention = exchanged_elements(config, 1);
  const double mlp = static_cast<double>(config.intermediate) * (config.gated ? 3 : 2);
  // The inputs of two norms and of qkv and the MLP; q, k, v and the output of attention; the MLP's.
  const double layer = kBytesPerElement * (4 * hidden + attention + mlp);
  return recompute ? kBytesPerElement * hidden * layers + layer : layer * layers;
}

/// `measured_costs`, which throws its errors.
MeasuredCosts made_costs(const ModelConfig& config, std::span<const Model> models,
                         const MeasuredRequest& request) {
  if (const std::string why = why_not_alike(config); !why.empty()) {
    bad_costs(
        fmt::format("model '{}': {}, whose costs are not known: expected dense layers that are all "
                    "alike, or --costs with coefficients",
                    config.name, why));
  }
  const double parameters = request.known.parameters.value_or(parameters_of(config));
  const bool between_nodes = request.gpus > request.per_node;
  const double fixed =
      request.known.fixed_us.value_or(between_nodes ? zero_us_between_nodes(request, parameters)
                                                    : zero_us(models, parameters, request.gpus));

  MeasuredCosts made;
  Coefficients& costs = made.costs;
  costs.linear_us = linear_us(config, models.front(), request.recompute);
  costs.quadratic_us = quadratic_us(config, models.front(), request);
  costs.bytes_of_token = activation_bytes(config, request.recompute);
  costs.bytes_of_state = kStateBytesPerParameter * parameters / request.gpus;
  costs.degrees.push_back({.degree = 1, .fixed_us = fixed});
  std::string given;
  for (int degree = 2; degree <= request.gpus; degree *= 2) {
    const auto known = request.known.bytes_per_us.find(degree);
    const bool inside = degree <= request.per_node;
    const auto measured = inside ? measured_exchange(config, models, degree) : std::nullopt;
    Exchange exchange;
    if (known != request.known.bytes_per_us.end()) {
      const double bytes = 2 * exchanged_elements(config, degree) * kBytesPerElement / degree *
                           static_cast<double>(config.layers);
      exchange.us_per_token = bytes / known->second;
      given += fmt::format("{}{}", given.empty() ? "" : ", ", degree);
    } else if (measured) {
      exchange = *measured;
    } else if (!inside) {
      bad_costs(fmt::format(
          "groups of {} GPUs are wider than a node of {}: the rate between nodes is not "
          "known: expected {{\"bandwidth\": {{\"{}\": GB/s of a GPU}}}} in --costs",
          degree, request.per_node, degree));
    } else {
      bad_costs(
          fmt::format("no all-to-all was probed with {} ranks: expected 'overlaptune probe --ranks "
                      "{}' into this database, or a bandwidth of degree {} in --costs",
                      degree, degree, degree));
    }
    costs.degrees.push_back({.degree = degree,
                             .exchange_us_per_token = exchange.us_per_token,
                             .fixed_us = fixed + exchange.fixed_us});
  }
  made.sources = {
      fmt::format("linear layers: {:.4f} us a token on one GPU, from the GEMM model{}",
                  costs.linear_us, request.recompute ? ", forward twice" : ""),
      fmt::format("attention: {:.3g} us a token squared, from {}", costs.quadratic_us,
                  request.known.attention_tflops ? "attention_tflops in --costs"
                  : config.causal                ? "its two products as GEMMs, half of each"
                                                 : "its two products as GEMMs"),
      fmt::format("all-to-all: measured{}",
                  given.empty() ? "" : ", but for degrees " + given + " from --costs"),
      fmt::format("a micro-batch: {:.1f} ms, {}", fixed / 1e3,
                  request.known.fixed_us ? "b1 in --costs"
                  : between_nodes ? "parameters gathered twice and gradients scattered at the rate "
                                    "between nodes"
                  : fixed > 0     ? "parameters gathered twice and gradients scattered"
                                  : "because no collectives of all GPUs are known"),
      fmt::format("memory: {:.2f} MiB a token, state of {:.2f} x 10^9 parameters{}",
                  costs.bytes_of_token / (1 << 20), parameters / 1e9,
                  request.known.parameters ? "" : " (linear layers only)")};
  return made;
}

}  // namespace

Expected<MeasuredCosts> measured_costs(const ModelConfig& config, std::span<const Model> models,
                                       const MeasuredRequest& request) {
  return outcome_of([&] { return made_costs(config, models, request); });
}

Expected<KnownCosts> parse_known_costs(std::string_view text, std::string_view origin) {
  return read_costs(text, origin, [](const JsonReader& root) {
    KnownCosts known;
    if (root.has("attention_tflops")) known.attention_tflops = positive(root["attention_tflops"]);
    if (root.has("b1")) known.fixed_us = positive(root["b1"]) * 1e3;
    if (root.has("parameters")) known.parameters = positive(root["parameters"]) * 1e9;
    if (root.has("bandwidth")) {
      const JsonReader bandwidth = root["bandwidth"];
      for (const int degree : degrees_of(bandwidth)) {
        known.bytes_per_us[degree] = positive(bandwidth[std::to_string(degree)]) * 1e3;
      }
    }
    return known;
  });
}

}  // namespace overlaptune
