#pragma once
// Workloads of published models and of small ones, and their products.

#include <algorithm>
#include <array>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "workload/workload.hpp"

namespace overlaptune {

inline const std::filesystem::path kModels =
    std::filesystem::path(OVERLAPTUNE_SOURCE_DIR) / "examples/models";

inline Workload of_model(const char* file, WorkloadOptions options) {
  const auto config = read_model_config(kModels / file);
  if (!config) throw Failure(config.error());
  return value_or_throw(workload(*config, options));
}

/// n and k of one op at the first token count, in the order given.
inline std::vector<std::pair<std::int64_t, std::int64_t>> shapes(const Workload& work, Op op) {
  std::vector<std::pair<std::int64_t, std::int64_t>> list;
  for (const Problem& problem : work.problems) {
    if (problem.op == op && problem.m == work.problems.front().m) {
      list.emplace_back(problem.n, problem.k);
    }
  }
  return list;
}

using Shapes = std::vector<std::pair<std::int64_t, std::int64_t>>;

inline std::string error_of(std::string_view json,
                            WorkloadOptions options = {.tp = 8, .tokens = {4096}}) {
  const auto config = parse_model_config(json, "config.json");
  if (!config) return config.error().message;
  const auto result = workload(*config, options);
  return result ? "" : result.error().message;
}

/// A small llama with one field replaced or (with an empty value) taken away.
inline std::string llama(const std::string& field = "", const std::string& value = "") {
  const std::pair<std::string, std::string> fields[] = {
      {"model_type", "\"llama\""},    {"hidden_size", "8192"},      {"intermediate_size", "28672"},
      {"num_attention_heads", "64"},  {"num_key_value_heads", "8"}, {"num_hidden_layers", "80"},
      {"torch_dtype", "\"bfloat16\""}};
  std::string json;
  for (const auto& [name, usual] : fields) {
    const std::string& now = name == field ? value : usual;
    if (!now.empty()) json += (json.empty() ? "{\"" : ", \"") + name + "\": " + now;
  }
  return json + "}";
}

inline bool notes_say(const Workload& work, std::string_view words) {
  return std::any_of(work.notes.begin(), work.notes.end(), [&](const std::string& note) {
    return note.find(words) != std::string::npos;
  });
}

/// n and k of one product, and in how many layers it is; zeros where there is none.
struct ProductShape {
  std::int64_t n = 0;
  std::int64_t k = 0;
  std::int64_t layers = 0;
  friend bool operator==(const ProductShape&, const ProductShape&) = default;
};

inline ProductShape shape_of(const Workload& work, Product product) {
  for (const LayerGemm& gemm : work.gemms) {
    if (gemm.product == product) return {gemm.problem.n, gemm.problem.k, gemm.times_per_pass};
  }
  return {};
}

inline std::int64_t rows_of(const Workload& work, Product product) {
  for (const LayerGemm& gemm : work.gemms) {
    if (gemm.product == product) return gemm.problem.m;
  }
  return 0;
}

inline Workload of_text(std::string_view json, int tp,
                        Parallelism parallelism = Parallelism::sequence,
                        std::int64_t tokens = 4096) {
  return value_or_throw(workload(value_or_throw(parse_model_config(json, "config.json")),
                                 {.tp = tp, .tokens = {tokens}, .parallelism = {parallelism}}));
}

}  // namespace overlaptune
