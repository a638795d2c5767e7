#include "workload/workload.hpp"

#include <algorithm>

#include <fmt/format.h>

namespace overlaptune {
namespace {

Expected<void> check(const WorkloadOptions& options) {
  if (options.tp < 2 || options.tp > kMostRanks) {
    return bad_input(fmt::format("--tp {}: expected 2 to {}", options.tp, kMostRanks));
  }
  if (options.tokens.empty()) {
    return bad_input("--tokens: expected at least one number of tokens, as in --tokens 1k,4k");
  }
  for (auto it = options.tokens.begin(); it != options.tokens.end(); ++it) {
    if (*it < 1 || *it > kLargestSize) {
      return bad_input(fmt::format("--tokens {}: expected 1 to 2^31 - 1", *it));
    }
    if (std::find(options.tokens.begin(), it, *it) != it) {
      return bad_input(fmt::format("--tokens {}: given twice: expected each number once", *it));
    }
  }
  return {};
}

/// An error about sizes, with those that the file leaves to its class: the wrong one may be there.
Error with_defaults(const Error& error, const ModelConfig& config) {
  const auto& notes = config.assumptions;
  const auto defaults = std::find_if(notes.begin(), notes.end(), [](const std::string& note) {
    return note.starts_with("not in the file: ");
  });
  if (defaults == notes.end()) return error;
  return {error.kind, fmt::format("{}; {}", error.message, *defaults)};
}

/// The problem if it is `validated`. Errors name the flags and the fields of config.json.
Expected<Problem> named(const Problem& problem, Product product, const ModelConfig& config) {
  if (const std::int64_t unit = row_multiple(problem); problem.m % unit != 0) {
    return bad_input(fmt::format("--tokens = {}: expected a multiple of {}--tp {}", problem.m,
                                 unit == problem.ranks ? "" : "4 * ", problem.ranks));
  }
  auto valid = validated(problem);
  if (valid) return valid;
  const Error error{valid.error().kind,
                    fmt::format("{}: {}", to_string(product), valid.error().message)};
  return tl::make_unexpected(with_defaults(error, config));
}

/// The products of attention and MLPs, then those of the experts.
Expected<std::vector<LayerShape>> all_shapes(const ModelConfig& config, int tp,
                                             Parallelism parallelism, std::int64_t tokens) {
  auto list = layer_shapes(config, tp, parallelism, tokens);
  if (!list) return tl::make_unexpected(with_defaults(list.error(), config));
  for (const LayerShape& shape : expert_shapes(config, tp, parallelism, tokens)) {
    if (shape.m > kLargestSize) {
      return bad_input(
          fmt::format("--tokens {}: the experts of a rank would have {} rows: expected "
                      "at most 2^31 - 1",
                      tokens, shape.m));
    }
    list->push_back(shape);
  }
  return list;
}

/// Adds a GEMM to the workload, and its problem where that is a new one.
void add(Workload& work, LayerGemm gemm) {
  auto& problems = work.problems;
  // Two products of one shape are one problem.
  if (std::find(problems.begin(), problems.end(), gemm.problem) == problems.end()) {
    problems.push_back(gemm.problem);
  } else {
    work.notes.push_back(
        fmt::format("{} at {} tokens is the same problem as another "
                    "product of the layer",
                    to_string(gemm.product), gemm.tokens));
  }
  work.gemms.push_back(std::move(gemm));
}

/// Adds the products and collectives of a pass.
Expected<void> add_pass(Workload& work, const ModelConfig& config, const WorkloadOptions& options,
                        Parallelism parallelism, std::int64_t tokens) {
  const Elements elements = options.elements.value_or(config.elements);
  const auto shapes = all_shapes(config, options.tp, parallelism, tokens);
  if (!shapes) return error_of(shapes);
  for (const LayerShape& shape : *shapes) {
    const Elements own = options.elements.value_or(elements_of_product(config, shape.product));
    if (!shape.op) {
      work.plain_gemms.push_back({.product = shape.product,
                                  .parallelism = parallelism,
                                  .tokens = tokens,
                                  .times_per_pass = shape.layers,
                                  .m = shape.m,
                                  .n = shape.n,
                                  .k = shape.k,
                                  .elements = own});
      continue;
    }
    const auto problem = named({.op = *shape.op,
                                .m = shape.m,
                                .n = shape.n,
                                .k = shape.k,
                                .elements = own,
                                .ranks = options.tp},
                               shape.product, config);
    if (!problem) return error_of(problem);
    add(work, {.model = config.name,
               .product = shape.product,
               .parallelism = parallelism,
               .tokens = tokens,
               .times_per_pass = shape.layers,
               .problem = *problem});
  }
  const auto collective = expert_collective(config, options.tp, parallelism, tokens, elements);
  if (collective) work.plain_collectives.push_back(*collective);
  return {};
}

}  // namespace

std::vector<std::string> workload_notes(const ModelConfig& config, const WorkloadOptions& options) {
  std::vector<std::string> notes = config.assumptions;
  for (std::string& note : expert_notes(config, options.tp, options.parallelism)) {
    notes.push_back(std::move(note));
  }
  const auto& ways = options.parallelism;
  const bool sequence = std::find(ways.begin(), ways.end(), Parallelism::sequence) != ways.end();
  if (!sequence) notes.emplace_back("plain TP has no collective beside qkv, gate and up");
  if (config.latent_attention) {
    notes.emplace_back("q, k and v are skipped: latent attention has no single projection");
  }
  notes.emplace_back("embedding and lm_head are skipped: once a model, not once a layer");
  return notes;
}

Expected<Workload> workload(const ModelConfig& config, const WorkloadOptions& options) {
  if (const auto checked = check(options); !checked) return error_of(checked);
  Workload result{.notes = workload_notes(config, options),
                  .assumptions = config.assumptions,
                  .assumed_dense = config.assumed_dense};
  for (const Parallelism parallelism : options.parallelism) {
    for (const std::int64_t tokens : options.tokens) {
      const auto added = add_pass(result, config, options, parallelism, tokens);
      if (!added) return error_of(added);
    }
  }
  return result;
}

}  // namespace overlaptune
