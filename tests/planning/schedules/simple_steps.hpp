#pragma once
// A model and costs with round figures, for tests.

#include <algorithm>

#include "planning/schedules/step_graph.hpp"

namespace overlaptune {

inline ModelConfig llama_8b() {
  return {.name = "llama",
          .layers = 32,
          .hidden = 4096,
          .intermediate = 14'336,
          .heads = 32,
          .kv_heads = 8,
          .head_dim = 128,
          .value_head_dim = 128};
}

inline ModelConfig llama_70b() {
  return {.name = "llama",
          .layers = 80,
          .hidden = 8192,
          .intermediate = 28'672,
          .heads = 64,
          .kv_heads = 8,
          .head_dim = 128,
          .value_head_dim = 128};
}

/// A GEMM at 500 TFLOP/s, links of 200 and 50 GB/s, memory of 4 TB/s; a fused pair takes the longer
/// of its two parts and a tenth of the shorter one.
inline StepCosts simple_costs() {
  const auto gemm_us = [](std::int64_t m, std::int64_t n, std::int64_t k) {
    return 2 * double(m) * double(n) * double(k) / 500e6;
  };
  const auto link = [](double rate) {
    return [rate](Collective op, double bytes, int ranks) -> Expected<Cost> {
      const double once = bytes * (ranks - 1) / ranks / rate;
      return Cost{.us = (op == Collective::all_reduce ? 2 : 1) * once,
                  .source = "rate",
                  .slows = 1.1,
                  .slowed = 1.2};
    };
  };
  return {.gemm = [=](const GemmSize& size, Elements) -> Expected<Cost> {
            return Cost{gemm_us(size.m, size.n, size.k), "rate"};
          },
          .tensor_parallel = link(200e3),
          .data_parallel = link(50e3),
          .fused = [=](const Problem& problem) -> std::optional<Cost> {
            const double gemm = gemm_us(problem.m, problem.n, problem.k);
            const double sum = double(collective_bytes(problem).count) * (problem.ranks - 1) /
                               problem.ranks / 200e3 * (problem.op == Op::gemm_all_reduce ? 2 : 1);
            return Cost{std::max(gemm, sum) + 0.1 * std::min(gemm, sum), "rate"};
          },
          .bytes_per_us = 4e6,
          .memory_source = "memory",
          .attention_flops_per_us = 350e6,
          .attention_source = "tensor"};
}

}  // namespace overlaptune
