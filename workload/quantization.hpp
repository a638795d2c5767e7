#pragma once
// Quantised products in published configs.

#include <optional>
#include <string>
#include <vector>

#include "core/elements.hpp"
#include "json/reader.hpp"

namespace overlaptune {

struct Quantization {
  std::string method{};              ///< its name in the file
  std::optional<Elements> elements;  ///< of the products; none: kernels here have no such operands
  std::vector<std::string> unknown_fields{};  ///< "config_groups.group_0.target"
  std::string sparsity{};                     ///< "2:4" weights; empty: dense ones
};

/// `described`: the object `quantization_config` or `compression_config`. `plain`: the elements of
/// a model that is not quantised, whose type the results have. Operands of 8 bits (e4m3) with
/// scales of rows or of whole matrices are known by the names of compressed-tensors, ModelOpt,
/// FBGEMM and vLLM's `fp8`; products of weights alone that are quantised are those of `plain`.
///
/// Sources: compressed-tensors, "QuantizationArgs" and "QuantizationScheme"; TensorRT Model
/// Optimizer, `hf_quant_config.json`; transformers, "FbgemmFp8Config" and "FineGrainedFP8Config";
/// vLLM, "Fp8Config" and "ModelOptFp8Config".
[[nodiscard]] Quantization quantization_of(const JsonReader& described, Elements plain);

}  // namespace overlaptune
