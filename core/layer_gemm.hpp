#pragma once
// A matrix product of a model's layers, how often a forward pass runs it, and the problem that it
// gives.

#include <array>
#include <cstdint>
#include <string>

#include "core/base/names.hpp"
#include "core/problem.hpp"

namespace overlaptune {

/// A matrix product of a transformer layer, or a collective without one (`dispatch`), in the order
/// of a layer.
enum class Product {
  qkv,              ///< projection of the hidden states to queries, keys and values
  o,                ///< projection of the attention's output
  gate_up,          ///< `gate` and `up` of a gated MLP, in one product
  up,               ///< `up` of an MLP without a gate
  down,             ///< projection of the MLP's output
  dispatch,         ///< the rows of tokens on their way to the ranks of their experts
  experts_gate_up,  ///< `gate` and `up` of the experts of a rank
  experts_down,     ///< `down` of the experts of a rank, where no all-to-all follows
  combine,          ///< the rows of the experts on their way back, behind `down` of the experts
  shared_gate_up,   ///< `gate` and `up` of the expert that every token passes
  shared_down,      ///< `down` of the expert that every token passes
};

template <>
struct NamesOf<Product> {
  static constexpr std::string_view what = "product";
  static constexpr std::array<Named<Product>, 11> all{
      {{Product::qkv, "qkv"},
       {Product::o, "o"},
       {Product::gate_up, "gate_up"},
       {Product::up, "up"},
       {Product::down, "down"},
       {Product::dispatch, "dispatch"},
       {Product::experts_gate_up, "experts_gate_up"},
       {Product::experts_down, "experts_down"},
       {Product::combine, "combine"},
       {Product::shared_gate_up, "shared_gate_up"},
       {Product::shared_down, "shared_down"}}};
};

/// How a layer is divided (Megatron-LM: Shoeybi et al. 2019, Korthikanti et al. 2022).
enum class Parallelism {
  tensor,    ///< o and down end in an all-reduce
  sequence,  ///< o and down end in a reduce-scatter; an all-gather precedes qkv and gate_up;
             ///< all-to-alls lead to the experts and back
};

template <>
struct NamesOf<Parallelism> {
  static constexpr std::string_view what = "parallelism";
  static constexpr std::array<Named<Parallelism>, 2> all{
      {{Parallelism::tensor, "tp"}, {Parallelism::sequence, "sp"}}};
};

/// A product of a model at one number of tokens. Several products may give the same problem. The
/// time that a forward pass spends in the products of a model is the sum of `times_per_pass` times
/// the time of `problem`, over the products of one parallelism and one number of tokens.
struct LayerGemm {
  std::string model;  ///< "llama-3-70b"
  Product product = Product::o;
  Parallelism parallelism = Parallelism::tensor;
  std::int64_t tokens = 0;          ///< tokens of the forward pass
  std::int64_t times_per_pass = 0;  ///< how often a forward pass runs the product
  Problem problem{};
  friend bool operator==(const LayerGemm&, const LayerGemm&) = default;
};

}  // namespace overlaptune
