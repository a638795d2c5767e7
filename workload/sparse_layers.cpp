#include <optional>
#include <set>

#include <fmt/format.h>

#include "workload/config_layers.hpp"

namespace overlaptune {
namespace {

/// Whether an MLP of this name has experts.
bool is_sparse(const ConfigFields& fields, const std::string& name) {
  if (name == "dense" || name == "mlp") return false;
  if (name == "sparse" || name == "moe") return true;
  fields.fail(
      fmt::format("mlp_layer_types has '{}': expected dense or sparse", one_line(name, 40)));
}

/// Which layers have experts by `moe_layer_freq`: every so many, or a 0 or 1 for each.
std::vector<bool> by_frequency(ConfigFields& fields, std::int64_t layers) {
  std::vector<bool> sparse(static_cast<std::size_t>(layers), true);
  const auto freq = fields.by_layer({"moe_layer_freq"}, layers, 0);
  if (freq.empty()) return sparse;
  if (fields.is_list("moe_layer_freq")) {
    for (std::size_t i = 0; i < freq.size(); ++i) {
      if (freq[i] > 1) {
        fields.fail(fmt::format("moe_layer_freq has {}: expected 0 or 1 for each layer", freq[i]));
      }
      sparse[i] = freq[i] == 1;
    }
    return sparse;
  }
  if (freq.front() == 0) {
    fields.fail("moe_layer_freq = 0: expected a number from 1, or 0 or 1 for each layer");
  }
  for (std::size_t i = 0; i < sparse.size(); ++i) {
    sparse[i] = static_cast<std::int64_t>(i) % freq.front() == 0;
  }
  return sparse;
}

/// Layers with experts that a list names. None: no such list.
std::optional<std::vector<bool>> listed_experts(ConfigFields& fields, std::int64_t layers) {
  std::vector<bool> sparse(static_cast<std::size_t>(layers));
  if (const auto names = fields.texts_if_any({"mlp_layer_types"})) {
    if (std::ssize(*names) != layers) {
      fields.fail(fmt::format("mlp_layer_types has {} entries: expected one for each of {} layers",
                              names->size(), layers));
    }
    for (std::size_t i = 0; i < names->size(); ++i) sparse[i] = is_sparse(fields, (*names)[i]);
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
  // ERNIE's -1 is the last layer.
  const auto end_index = fields.count_if_any({"moe_layer_end_index"}, -1).value_or(-1);
  const auto end = end_index == -1 ? layers - 1 : end_index;
  const auto by_freq = by_frequency(fields, layers);
  const auto interval = fields.count_if_any({"moe_layer_interval"}).value_or(1);
  const auto step =
      fields.count_if_any({"interleave_moe_layer_step", "decoder_sparse_step"}).value_or(1);
  const auto dense =
      fields.numbers_if_any({"mlp_only_layers"}).value_or(std::vector<std::int64_t>());
  const std::set<std::int64_t> listed(dense.begin(), dense.end());
  return where([&](std::int64_t i) {
    return by_freq[static_cast<std::size_t>(i)] && i >= first && i <= end &&
           (i + 1) % interval == 0 && (i + 1) % step == 0 && !listed.contains(i);
  });
}

}  // namespace overlaptune
