#include <algorithm>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "workload/config_layers.hpp"

namespace overlaptune {
namespace {

/// Layers with experts that a list names. None: no such list.
std::optional<std::vector<bool>> listed_experts(ConfigFields& fields, std::int64_t layers) {
  std::vector<bool> sparse(static_cast<std::size_t>(layers));
  if (const auto names = fields.texts_if_any({"mlp_layer_types"})) {
    if (std::ssize(*names) != layers) {
      fields.fail(fmt::format("mlp_layer_types has {} entries: expected one for each of {} layers",
                              names->size(), layers));
    }
    for (std::size_t i = 0; i < names->size(); ++i) sparse[i] = (*names)[i] != "dense";
    return sparse;
  }
  if (const auto indices = fields.numbers_if_any({"moe_layers"})) {
    for (const std::int64_t i : *indices) {
      if (i < layers) sparse[static_cast<std::size_t>(i)] = true;
    }
    return sparse;
  }
  return std::nullopt;
}

}  // namespace

std::vector<bool> read_sparse(ConfigFields& fields, std::int64_t layers) {
  // Files give a list and the rule that made it.
  fields.know({"mlp_layer_types", "moe_layers", "first_k_dense_replace", "num_dense_layers",
               "moe_layer_freq", "interleave_moe_layer_step", "decoder_sparse_step",
               "mlp_only_layers"});
  if (auto list = listed_experts(fields, layers)) return *list;
  const auto where = [&](auto rule) {
    std::vector<bool> sparse;
    for (std::int64_t i = 0; i < layers; ++i) sparse.push_back(rule(i));
    return sparse;
  };
  if (const auto period = fields.count_if_any({"expert_layer_period"})) {
    const auto offset = fields.count_if_any({"expert_layer_offset"}, 0).value_or(0);
    return where([&](std::int64_t i) { return i % *period == offset; });
  }
  const auto first = fields
                         .count_if_any({"first_k_dense_replace", "moe_layer_start_index",
                                        "num_dense_layers", "moe_layer_num_skipped"},
                                       0)
                         .value_or(0);
  const auto end = fields.count_if_any({"moe_layer_end_index"}, 0).value_or(layers - 1);
  const auto freq = fields.by_layer({"moe_layer_freq"}, layers, 0);
  const bool by_list =
      std::find(freq.begin(), freq.end(), 0) != freq.end();  // 0 or 1 for each layer
  const std::int64_t each = freq.empty() || by_list ? 1 : freq.front();
  const auto interval = fields.count_if_any({"moe_layer_interval"}).value_or(1);
  const auto step =
      fields.count_if_any({"interleave_moe_layer_step", "decoder_sparse_step"}).value_or(1);
  const auto dense =
      fields.numbers_if_any({"mlp_only_layers"}).value_or(std::vector<std::int64_t>());
  const std::set<std::int64_t> listed(dense.begin(), dense.end());
  return where([&](std::int64_t i) {
    if (by_list && freq[static_cast<std::size_t>(i)] == 0) return false;
    return i >= first && i <= end && i % each == 0 && (i + 1) % interval == 0 &&
           (i + 1) % step == 0 && !listed.contains(i);
  });
}

}  // namespace overlaptune
