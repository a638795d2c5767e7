#include "reports/products.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace overlaptune {

std::vector<LayerGemm> products_of(const Problem& problem, std::span<const LayerGemm> gemms) {
  std::vector<LayerGemm> found;
  std::copy_if(gemms.begin(), gemms.end(), std::back_inserter(found),
               [&](const LayerGemm& gemm) { return gemm.problem == problem; });
  return found;
}

std::string brief_products(std::span<const LayerGemm> gemms) {
  std::string text;
  std::string_view model;
  for (const LayerGemm& gemm : gemms) {
    if (!text.empty()) text += ", ";
    if (gemm.model != model) text += gemm.model + " ";
    model = gemm.model;
    text += fmt::format("{} ×{}", to_string(gemm.product), gemm.times_per_pass);
  }
  return text;
}

OrderedJson json_of(std::span<const LayerGemm> gemms) {
  OrderedJson list = OrderedJson::array();
  for (const LayerGemm& gemm : gemms) {
    list.push_back({{"model", gemm.model},
                    {"product", to_string(gemm.product)},
                    {"parallelism", to_string(gemm.parallelism)},
                    {"tokens", gemm.tokens},
                    {"times_per_pass", gemm.times_per_pass}});
  }
  return list;
}

}  // namespace overlaptune
