#pragma once
// The products of models that a problem comes from.

#include <span>
#include <string>
#include <vector>

#include "core/layer_gemm.hpp"
#include "reports/table/table.hpp"

namespace overlaptune {

/// The products among `gemms` that give this problem, in their order.
[[nodiscard]] std::vector<LayerGemm> products_of(const Problem& problem,
                                                 std::span<const LayerGemm> gemms);

/// `llama-3-70b down ×80`; several are separated by commas, and each model is named once.
[[nodiscard]] std::string brief_products(std::span<const LayerGemm> gemms);

/// An array of objects with `model, product, parallelism, tokens, times_per_pass`.
[[nodiscard]] OrderedJson json_of(std::span<const LayerGemm> gemms);

}  // namespace overlaptune
