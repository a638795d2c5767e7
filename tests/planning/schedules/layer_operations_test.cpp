// The operations of a layer: times, shapes and order, worked out by hand for one GPU of four.

#include <array>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/planning/schedules/simple_steps.hpp"

namespace overlaptune {
namespace {

using ::testing::ElementsAre;
using ::testing::UnorderedElementsAre;

/// Llama 3 8B on 4 GPUs: 1024 columns of queries and as many of attention's output, 256 of keys and
/// 256 of values, 3584 of each of gate and up.
constexpr StepShape kShape{.tp = 4, .micro_batch = 2, .tokens = 1024};

LayerOperations made(const StepShape& shape, const StepCosts& costs = simple_costs(),
                     const ModelConfig& config = llama_8b()) {
  return value_or_throw(layer_operations(config, shape, costs));
}

const Task& task(const LayerPass& pass, const std::string& kind) {
  for (const LayerTask& each : pass.tasks) {
    if (each.task.kind == kind) return each.task;
  }
  throw std::runtime_error("no task " + kind);
}

std::map<std::string, double> times(const LayerPass& pass) {
  std::map<std::string, double> by_kind;
  for (const LayerTask& each : pass.tasks) by_kind[each.task.kind] = each.task.us;
  return by_kind;
}

/// The kinds of the tasks before each task.
std::map<std::string, std::set<std::string>> order(const LayerPass& pass) {
  std::map<std::string, std::set<std::string>> before;
  for (const LayerTask& each : pass.tasks) {
    std::set<std::string>& kinds = before[each.task.kind];
    for (const int index : each.task.after) {
      kinds.insert(pass.tasks[static_cast<std::size_t>(index)].task.kind);
    }
  }
  return before;
}

TEST(LayerOperations, pointwise_ones_take_the_time_of_their_bytes) {
  // Elements of two bytes at 4e6 bytes a microsecond.
  const auto us = [](double elements) { return elements * 2 / 4e6; };
  const LayerOperations layer = made(kShape);
  const auto forward = times(layer.forward);
  const auto backward = times(layer.backward);
  // A norm and its residual read and write two tensors of this GPU's 512 tokens.
  EXPECT_DOUBLE_EQ(forward.at("forward attention norm"), us(4.0 * 512 * 4096));
  EXPECT_DOUBLE_EQ(forward.at("forward mlp norm"), us(4.0 * 512 * 4096));
  EXPECT_DOUBLE_EQ(backward.at("backward attention norm"), us(4.0 * 512 * 4096));
  EXPECT_DOUBLE_EQ(backward.at("backward mlp norm"), us(4.0 * 512 * 4096));
  // Queries and keys of all 2048 tokens, read and written.
  EXPECT_DOUBLE_EQ(forward.at("forward rope"), us(2.0 * 2048 * (1024 + 256)));
  EXPECT_DOUBLE_EQ(backward.at("backward rope"), us(2.0 * 2048 * (1024 + 256)));
  // Reads gate and up, writes their product; backward reads and writes gate and up.
  EXPECT_DOUBLE_EQ(forward.at("forward activation"), us(2048.0 * 3 * 3584));
  EXPECT_DOUBLE_EQ(backward.at("backward activation"), us(2048.0 * 5 * 3584));
}

TEST(LayerOperations, without_sequence_parallelism_norms_see_all_tokens) {
  StepShape plain = kShape;
  plain.sequence_parallel = false;
  EXPECT_DOUBLE_EQ(times(made(plain).forward).at("forward attention norm"),
                   4.0 * 2048 * 4096 * 2 / 4e6);
  // One GPU has them all in any case.
  EXPECT_DOUBLE_EQ(times(made({.tp = 1, .tokens = 64}).forward).at("forward mlp norm"),
                   4.0 * 64 * 4096 * 2 / 4e6);
}

TEST(LayerOperations, a_kernel_has_its_launch) {
  StepCosts costs = simple_costs();
  costs.launch_us = 3;
  const auto with = times(made(kShape, costs).forward);
  const auto without = times(made(kShape).forward);
  for (const auto& [kind, us] : without) {
    // The costs of products and collectives have it already.
    const bool has = kind.find("norm") != kind.npos || kind.find("rope") != kind.npos ||
                     kind.ends_with("attention") || kind.find("activation") != kind.npos;
    EXPECT_NEAR(with.at(kind) - us, has ? 3 : 0, 1e-9) << kind;
  }
}

TEST(LayerOperations, an_mlp_that_is_not_gated_has_one_product_up) {
  ModelConfig config = llama_8b();
  config.gated = false;
  const LayerOperations layer = made(kShape, simple_costs(), config);
  EXPECT_DOUBLE_EQ(times(layer.forward).at("forward activation"), 2048.0 * 2 * 3584 * 2 / 4e6);
  EXPECT_DOUBLE_EQ(layer.parameters,
                   (2.0 * 4096 * 4096 + 2.0 * 4096 * 1024 + 2.0 * 4096 * 14'336) / 4);
}

TEST(LayerOperations, attention_of_an_encoder_has_no_half_behind_a_mask) {
  ModelConfig config = llama_8b();
  config.causal = false;
  const LayerOperations layer = made(kShape, simple_costs(), config);
  EXPECT_DOUBLE_EQ(task(layer.forward, "forward attention").us,
                   2048.0 * 1024 * 2 * 2 * 1024 / 350e6);
}

TEST(LayerOperations, attention_is_bound_by_operations_or_by_memory) {
  // Two sequences of 1024 tokens: 2048 tokens, each with 1024 others, half of them behind the mask.
  const LayerOperations layer = made(kShape);
  const double flops = 2048.0 * 1024 * 2 * 2 * 1024 / 2;
  EXPECT_DOUBLE_EQ(task(layer.forward, "forward attention").us, flops / 350e6);
  EXPECT_DOUBLE_EQ(task(layer.backward, "backward attention").us, 2.5 * flops / 350e6);
  EXPECT_EQ(task(layer.forward, "forward attention").source, "tensor");
  // 8 tokens read q, k and v, and write the output.
  const LayerOperations small = made({.tp = 4, .tokens = 8});
  const double elements = 8.0 * (1024 + 256 + 256 + 1024);
  EXPECT_DOUBLE_EQ(task(small.forward, "forward attention").us, elements * 2 / 4e6);
  EXPECT_DOUBLE_EQ(task(small.backward, "backward attention").us, 2 * elements * 2 / 4e6);
  EXPECT_EQ(task(small.forward, "forward attention").source, "memory");
}

TEST(LayerOperations, what_measures_an_operation_has_its_bytes_or_operations) {
  const LayerOperations layer = made(kShape);
  const auto probe = [&](const std::string& kind) { return task(layer.forward, kind).probe; };
  EXPECT_EQ(probe("forward mlp norm"), (LayerProbe{LayerWork::norm, 4 * 512 * 4096 * 2, 1}));
  EXPECT_EQ(probe("forward rope"), (LayerProbe{LayerWork::rope, 2 * 2048 * 1280 * 2, 1}));
  EXPECT_EQ(probe("forward activation"),
            (LayerProbe{LayerWork::activation, 2048 * 3 * 3584 * 2, 1}));
  EXPECT_EQ(probe("forward attention"),
            (LayerProbe{LayerWork::attention, std::int64_t{2048} * 1024 * 2 * 1024, 1}));
  EXPECT_EQ(probe("forward all_gather of qkv"),
            (LayerProbe{LayerWork::all_gather, 2048 * 4096 * 2, 4}));
  EXPECT_EQ(probe("forward reduce_scatter of o"),
            (LayerProbe{LayerWork::reduce_scatter, 2048 * 4096 * 2, 4}));
  EXPECT_FALSE(probe("forward qkv"));
  // Kernels of the backward pass are others.
  EXPECT_FALSE(task(layer.backward, "backward mlp norm").probe);
  EXPECT_FALSE(task(layer.backward, "backward attention").probe);
}

TEST(LayerOperations, stored_times_come_before_rates) {
  StepCosts costs = simple_costs();
  costs.memory_doubt = {.low = 0.5, .high = 3};
  costs.launch_us = 2;
  costs.stored = [](const LayerProbe& probe) -> std::optional<Cost> {
    if (probe.work == LayerWork::rope) return std::nullopt;
    return Cost{1e-6 * static_cast<double>(probe.amount), "stored", {.low = 0.9, .high = 1.1}};
  };
  const LayerOperations layer = made(kShape, costs);
  const Task& norm = task(layer.forward, "forward mlp norm");
  EXPECT_DOUBLE_EQ(norm.us, 4e-6 * 512 * 4096 * 2);
  EXPECT_EQ(norm.source, "stored");
  EXPECT_EQ(norm.doubt.high, 1.1);
  EXPECT_DOUBLE_EQ(task(layer.forward, "forward attention").us, 1e-6 * 2048 * 1024 * 2 * 1024);
  // Backward, the time is a guess from the forward one.
  const Task& back = task(layer.backward, "backward attention");
  EXPECT_DOUBLE_EQ(back.us, 2.5e-6 * 2048 * 1024 * 2 * 1024);
  EXPECT_EQ(back.source, "as forward");
  EXPECT_EQ(task(layer.backward, "backward mlp norm").doubt.high, 3);
  const Task& rope = task(layer.forward, "forward rope");
  EXPECT_DOUBLE_EQ(rope.us, 2.0 * 2048 * 1280 * 2 / 4e6 + 2);
  EXPECT_EQ(rope.source, "memory");
  EXPECT_EQ(rope.doubt.low, 0.5);
}

TEST(LayerOperations, products_have_their_shapes) {
  using Shape = std::array<std::int64_t, 3>;
  std::vector<Shape> asked;
  StepCosts costs = simple_costs();
  costs.gemm = [&](const GemmSize& size, Elements) -> Expected<Cost> {
    asked.push_back({size.m, size.n, size.k});
    return Cost{1, "rate"};
  };
  static_cast<void>(made(kShape, costs));
  EXPECT_THAT(asked, ElementsAre(Shape{2048, 1536, 4096}, Shape{2048, 4096, 1024},  // qkv, o
                                 Shape{2048, 7168, 4096}, Shape{2048, 4096, 3584},  // gate_up, down
                                 // Backward: the gradient of the inputs, then that of the weights.
                                 Shape{2048, 3584, 4096}, Shape{4096, 3584, 2048},    // down
                                 Shape{2048, 4096, 7168}, Shape{7168, 4096, 2048},    // gate_up
                                 Shape{2048, 1024, 4096}, Shape{4096, 1024, 2048},    // o
                                 Shape{2048, 4096, 1536}, Shape{1536, 4096, 2048}));  // qkv
}

TEST(LayerOperations, gemms_and_attention_take_longer_beside_fused_ones) {
  StepCosts costs = simple_costs();
  costs.attention_beside_fused = 1.25;
  costs.gemm = [](const auto&, auto) -> Expected<Cost> {
    return Cost{.us = 1, .source = "rate", .beside_fused = 1.5};
  };
  for (const bool computes : {true, false}) {
    costs.attention_flops_per_us = computes ? 1 : 1e30;
    const LayerOperations layer = made(kShape, costs);
    for (const LayerTask& each : layer.forward.tasks) {
      const bool attends = each.task.kind == "forward attention";
      const double expected = each.task.is_gemm ? 1.5 : attends && computes ? 1.25 : 1;
      EXPECT_EQ(each.task.beside_fused, expected) << each.task.kind;
    }
  }
}

TEST(LayerOperations, what_may_be_fused_is_asked_for_by_its_problem) {
  std::vector<std::string> asked;
  StepCosts costs = simple_costs();
  costs.fused = [&](const Problem& problem) -> std::optional<Cost> {
    asked.push_back(fmt::format("{} {} {} {} {}", to_string(problem.op), problem.m, problem.n,
                                problem.k, problem.ranks));
    return Cost{1, "fused"};
  };
  const LayerOperations layer = made(kShape, costs);
  EXPECT_THAT(asked, ElementsAre("all_gather_gemm 2048 1536 4096 4",        // qkv
                                 "gemm_reduce_scatter 2048 4096 1024 4",    // o
                                 "all_gather_gemm 2048 7168 4096 4",        // gate_up
                                 "gemm_reduce_scatter 2048 4096 3584 4",    // down
                                 "all_gather_gemm 2048 3584 4096 4",        // down dgrad
                                 "gemm_reduce_scatter 2048 4096 7168 4",    // gate_up dgrad
                                 "all_gather_gemm 2048 1024 4096 4",        // o dgrad
                                 "gemm_reduce_scatter 2048 4096 1536 4"));  // qkv dgrad
  std::vector<std::string> pairs;
  for (const Fusion& fusion : layer.forward.fusions) {
    const auto kind = [&](int index) {
      return layer.forward.tasks[static_cast<std::size_t>(index)].task.kind;
    };
    pairs.push_back(kind(fusion.compute) + " | " + kind(fusion.links));
    EXPECT_EQ(fusion.us, 1);
    EXPECT_EQ(fusion.source, "fused");
  }
  EXPECT_THAT(pairs, ElementsAre("forward qkv | forward all_gather of qkv",
                                 "forward o | forward reduce_scatter of o",
                                 "forward gate_up | forward all_gather of gate_up",
                                 "forward down | forward reduce_scatter of down"));
  EXPECT_EQ(layer.forward.fusions.front().kind, "forward qkv + all_gather");
}

TEST(LayerOperations, forward_each_waits_for_the_one_before) {
  const LayerOperations layer = made(kShape);
  const std::vector<std::string> chain{"attention norm",
                                       "all_gather of qkv",
                                       "qkv",
                                       "rope",
                                       "attention",
                                       "o",
                                       "reduce_scatter of o",
                                       "mlp norm",
                                       "all_gather of gate_up",
                                       "gate_up",
                                       "activation",
                                       "down",
                                       "reduce_scatter of down"};
  const auto before = order(layer.forward);
  EXPECT_EQ(before.size(), chain.size());
  for (std::size_t i = 0; i < chain.size(); ++i) {
    const std::set<std::string> expected =
        i == 0 ? std::set<std::string>{} : std::set{"forward " + chain[i - 1]};
    EXPECT_EQ(before.at("forward " + chain[i]), expected) << chain[i];
  }
  EXPECT_THAT(layer.forward.first, ElementsAre(0));
  EXPECT_EQ(layer.forward.last, 12);
  EXPECT_THAT(layer.forward.weights, ElementsAre(2, 5, 9, 11));
}

TEST(LayerOperations, backward_weight_gradients_wait_for_both_of_their_inputs) {
  const LayerOperations layer = made(kShape);
  const auto before = order(layer.backward);
  const auto of = [&](const std::string& kind) {
    std::vector<std::string> kinds;
    for (const std::string& each : before.at("backward " + kind)) {
      kinds.push_back(each.substr(std::string("backward ").size()));
    }
    return kinds;
  };
  EXPECT_THAT(of("all_gather for down"), ElementsAre());
  EXPECT_THAT(of("down dgrad"), ElementsAre("all_gather for down"));
  EXPECT_THAT(of("down wgrad"), ElementsAre("all_gather for down"));
  EXPECT_THAT(of("activation"), ElementsAre("down dgrad"));
  EXPECT_THAT(of("gate_up dgrad"), ElementsAre("activation"));
  EXPECT_THAT(of("all_gather for gate_up wgrad"), ElementsAre());
  EXPECT_THAT(of("gate_up wgrad"),
              UnorderedElementsAre("activation", "all_gather for gate_up wgrad"));
  EXPECT_THAT(of("mlp norm"), ElementsAre("reduce_scatter of gate_up dgrad"));
  EXPECT_THAT(of("all_gather for o"), ElementsAre("mlp norm"));
  EXPECT_THAT(of("attention"), ElementsAre("o dgrad"));
  EXPECT_THAT(of("rope"), ElementsAre("attention"));
  EXPECT_THAT(of("qkv dgrad"), ElementsAre("rope"));
  EXPECT_THAT(of("qkv wgrad"), UnorderedElementsAre("rope", "all_gather for qkv wgrad"));
  EXPECT_THAT(of("attention norm"), ElementsAre("reduce_scatter of qkv dgrad"));
  std::set<std::string> put_off;
  std::set<std::string> products;
  for (const LayerTask& each : layer.backward.tasks) {
    if (each.is_weight_gradient) put_off.insert(each.task.kind);
    if (each.task.is_gemm) products.insert(each.task.kind);
  }
  EXPECT_THAT(put_off, UnorderedElementsAre("backward down wgrad", "backward gate_up wgrad",
                                            "backward o wgrad", "backward qkv wgrad"));
  EXPECT_EQ(products.size(), 8U);
}

TEST(LayerOperations, collectives_have_their_bytes_and_factors) {
  std::vector<std::string> asked;
  StepCosts costs = simple_costs();
  costs.tensor_parallel = [&](Collective op, double bytes, int ranks) -> Expected<Cost> {
    asked.push_back(fmt::format("{} {} {}", to_string(op), bytes, ranks));
    return Cost{.us = 7, .source = "links", .slows = 1.25, .slowed = 1.5};
  };
  const LayerOperations layer = made(kShape, costs);
  EXPECT_EQ(asked.size(), 4U + 6U);
  for (const std::string& each : asked) {  // 2048 tokens of 4096 elements of two bytes
    EXPECT_THAT(each, testing::EndsWith(" 16777216 4"));
  }
  const Task& gather = task(layer.forward, "forward all_gather of qkv");
  EXPECT_EQ(gather.us, 7);
  EXPECT_EQ(gather.slows, 1.25);
  EXPECT_EQ(gather.slowed, 1.5);
  EXPECT_EQ(gather.source, "links");
  EXPECT_EQ(gather.traffic, "all_gather");
  EXPECT_EQ(gather.resource, Resource::links);
}

TEST(LayerOperations, a_cost_that_is_not_known_is_an_error) {
  StepCosts costs = simple_costs();
  costs.gemm = [](const auto&, auto) -> Expected<Cost> { return bad_input("no such product"); };
  const auto failed = layer_operations(llama_8b(), kShape, costs);
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().kind, ErrorKind::bad_input);
  EXPECT_EQ(failed.error().message, "no such product");
}

TEST(LayerOperations, key_heads_may_be_fewer_than_the_gpus) {
  // 16 GPUs: two query heads each, and one of the 8 key heads, which two GPUs share.
  const LayerOperations layer = made({.tp = 16, .tokens = 1024});
  EXPECT_DOUBLE_EQ(times(layer.forward).at("forward rope"), 2.0 * 1024 * (2 * 128 + 128) * 2 / 4e6);
  EXPECT_DOUBLE_EQ(layer.parameters, 4096.0 * (256 + 2 * 128 + 256) + 4096.0 * 3 * 14'336 / 16);
}

/// The model with products of 8 bits; those of `kept` stay in 16 bits.
ModelConfig quantised_8b(std::set<Product> kept = {}) {
  ModelConfig config = llama_8b();
  config.elements = Elements::e4m3_rows_bf16;
  config.in_16_bits = std::move(kept);
  return config;
}

constexpr StepShape kPass{.tp = 4, .micro_batch = 2, .tokens = 1024, .scope = Scope::forward};

TEST(LayerOperations, inputs_of_8_bit_products_are_quantised) {
  StepCosts costs = simple_costs();
  costs.launch_us = 3;
  costs.memory_doubt = {.low = 0.5, .high = 2};
  const auto expect = [&](const StepShape& shape, const std::string& name, std::int64_t elements) {
    const LayerPass pass = made(shape, costs, quantised_8b()).forward;
    const Task& each = task(pass, "forward quantise " + name);
    // Two bytes are read twice, one is written.
    EXPECT_EQ(each.probe, (LayerProbe{LayerWork::quantise, 5 * elements, 1})) << name;
    EXPECT_DOUBLE_EQ(each.us, 5.0 * static_cast<double>(elements) / 4e6 + 3) << name;
    EXPECT_EQ(each.resource, Resource::compute);
    EXPECT_EQ(each.source, "memory");
    EXPECT_EQ(each.doubt.high, 2);
    EXPECT_FALSE(each.is_gemm);
  };
  // This GPU's 512 tokens, before they are gathered; all 2048 tokens behind that.
  expect(kPass, "qkv", 512 * 4096);
  expect(kPass, "o", 2048 * 1024);
  expect(kPass, "gate_up", 512 * 4096);
  expect(kPass, "down", 2048 * 3584);
  StepShape plain = kPass;
  plain.sequence_parallel = false;
  expect(plain, "qkv", 2048 * 4096);
  expect(plain, "o", 2048 * 1024);
  expect(plain, "gate_up", 2048 * 4096);
  expect(plain, "down", 2048 * 3584);
}

TEST(LayerOperations, inputs_with_one_known_scale_are_read_once) {
  ModelConfig config = quantised_8b();
  config.elements = Elements::e4m3_tensor_bf16;
  const LayerPass pass = made(kPass, simple_costs(), config).forward;
  EXPECT_EQ(task(pass, "forward quantise down").probe,
            (LayerProbe{LayerWork::quantise, 3 * 2048 * 3584, 1}));
}

TEST(LayerOperations, stored_times_of_quantising_come_before_the_rate) {
  StepCosts costs = simple_costs();
  costs.stored = [](const LayerProbe& probe) -> std::optional<Cost> {
    if (probe.work != LayerWork::quantise) return std::nullopt;
    return Cost{1e-6 * static_cast<double>(probe.amount), "stored"};
  };
  const LayerPass pass = made(kPass, costs, quantised_8b()).forward;
  EXPECT_DOUBLE_EQ(task(pass, "forward quantise down").us, 5e-6 * 2048 * 3584);
  EXPECT_EQ(task(pass, "forward quantise down").source, "stored");
  EXPECT_EQ(task(pass, "forward activation").source, "memory");
}

TEST(LayerOperations, quantising_precedes_the_gather_or_the_product) {
  const LayerPass pass = made(kPass, simple_costs(), quantised_8b()).forward;
  const auto before = order(pass);
  EXPECT_EQ(before.size(), 13U + 4U);
  for (const auto& [name, expected] :
       {std::pair("quantise qkv", "attention norm"), std::pair("all_gather of qkv", "quantise qkv"),
        std::pair("qkv", "all_gather of qkv"), std::pair("quantise o", "attention"),
        std::pair("o", "quantise o"), std::pair("reduce_scatter of o", "o"),
        std::pair("quantise gate_up", "mlp norm"),
        std::pair("all_gather of gate_up", "quantise gate_up"),
        std::pair("quantise down", "activation"), std::pair("down", "quantise down")}) {
    EXPECT_THAT(before.at(fmt::format("forward {}", name)),
                ElementsAre(fmt::format("forward {}", expected)));
  }
  // Only products wait for the weights.
  std::vector<std::string> weights;
  for (const int index : pass.weights) {
    weights.push_back(pass.tasks[static_cast<std::size_t>(index)].task.kind);
  }
  EXPECT_THAT(weights, ElementsAre("forward qkv", "forward o", "forward gate_up", "forward down"));
}

TEST(LayerOperations, operands_are_gathered_in_8_bits_and_results_summed_in_16) {
  const auto bytes = [](const LayerPass& pass, const std::string& kind) {
    return task(pass, kind).probe->amount;
  };
  const LayerPass half = made(kPass, simple_costs(), quantised_8b()).forward;
  const LayerPass whole = made(kPass).forward;
  for (const char* const kind : {"forward all_gather of qkv", "forward all_gather of gate_up"}) {
    EXPECT_EQ(bytes(half, kind), 2048 * 4096);
    EXPECT_EQ(bytes(whole, kind), 2 * 2048 * 4096);
    EXPECT_DOUBLE_EQ(task(half, kind).us, task(whole, kind).us / 2);
  }
  for (const char* const kind : {"forward reduce_scatter of o", "forward reduce_scatter of down"}) {
    EXPECT_EQ(bytes(half, kind), 2 * 2048 * 4096);
    EXPECT_EQ(bytes(whole, kind), 2 * 2048 * 4096);
  }
  StepShape plain = kPass;
  plain.sequence_parallel = false;
  const LayerPass reduced = made(plain, simple_costs(), quantised_8b()).forward;
  EXPECT_EQ(bytes(reduced, "forward all_reduce of o"), 2 * 2048 * 4096);
  EXPECT_EQ(bytes(reduced, "forward all_reduce of down"), 2 * 2048 * 4096);
  // All but the products of weights is as in 16 bits.
  for (const char* const kind : {"forward attention norm", "forward rope", "forward attention",
                                 "forward mlp norm", "forward activation"}) {
    EXPECT_EQ(task(half, kind).us, task(whole, kind).us) << kind;
  }
}

TEST(LayerOperations, a_product_that_stays_in_16_bits_is_as_in_a_model_of_16_bits) {
  std::vector<std::string> gemms;
  std::vector<std::string> fused;
  StepCosts costs = simple_costs();
  costs.gemm = [&](const GemmSize& size, Elements elements) -> Expected<Cost> {
    gemms.push_back(fmt::format("{} {}", size.n, to_string(elements)));
    return Cost{1, "rate"};
  };
  costs.fused = [&](const Problem& problem) -> std::optional<Cost> {
    fused.push_back(fmt::format("{} {}", problem.n, to_string(problem.elements)));
    return std::nullopt;
  };
  const LayerPass pass = made(kPass, costs, quantised_8b({Product::qkv, Product::down})).forward;
  const auto expected = ElementsAre("1536 bf16", "4096 e4m3_rows_bf16", "7168 e4m3_rows_bf16",
                                    "4096 bf16");  // qkv, o, gate_up, down
  EXPECT_THAT(gemms, expected);
  EXPECT_THAT(fused, expected);
  const auto before = order(pass);
  EXPECT_FALSE(before.contains("forward quantise qkv"));
  EXPECT_FALSE(before.contains("forward quantise down"));
  EXPECT_TRUE(before.contains("forward quantise o"));
  EXPECT_TRUE(before.contains("forward quantise gate_up"));
  EXPECT_EQ(task(pass, "forward all_gather of qkv").probe->amount, 2 * 2048 * 4096);
  EXPECT_EQ(task(pass, "forward all_gather of gate_up").probe->amount, 2048 * 4096);
  EXPECT_EQ(task(pass, "forward qkv").elements, Elements::bf16);
  EXPECT_EQ(task(pass, "forward o").elements, Elements::e4m3_rows_bf16);
}

TEST(LayerOperations, the_product_up_of_an_mlp_without_a_gate_may_stay_in_16_bits) {
  ModelConfig config = quantised_8b({Product::up});
  config.gated = false;
  const auto before = order(made(kPass, simple_costs(), config).forward);
  EXPECT_FALSE(before.contains("forward quantise gate_up"));
  EXPECT_TRUE(before.contains("forward quantise down"));
}

TEST(LayerOperations, a_training_step_with_8_bit_products_is_refused) {
  for (const ModelConfig& config :
       {quantised_8b(), quantised_8b({Product::qkv, Product::o, Product::gate_up})}) {
    const auto refused = layer_operations(config, kShape, simple_costs());
    ASSERT_FALSE(refused);
    EXPECT_EQ(refused.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(refused.error().message,
              "llama: products of e4m3_rows_bf16 have no backward pass: expected --scope layer or "
              "--scope forward");
  }
  const ModelConfig kept =
      quantised_8b({Product::qkv, Product::o, Product::gate_up, Product::down});
  EXPECT_EQ(elements_of_layer(kept), Elements::bf16);
  EXPECT_EQ(times(made(kShape, simple_costs(), kept).backward), times(made(kShape).backward));
}

TEST(LayerOperations, the_elements_of_a_layer_are_those_of_its_quantised_products) {
  EXPECT_EQ(elements_of_layer(quantised_8b()), Elements::e4m3_rows_bf16);
  EXPECT_EQ(elements_of_layer(quantised_8b({Product::qkv, Product::o, Product::gate_up})),
            Elements::e4m3_rows_bf16);
  ModelConfig half = llama_8b();
  half.elements = Elements::fp16;
  EXPECT_EQ(elements_of_layer(half), Elements::fp16);
}

}  // namespace
}  // namespace overlaptune
