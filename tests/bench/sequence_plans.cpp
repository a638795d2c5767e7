// Gains of mixed degrees on lengths like Wikipedia's, with the published coefficients of FlexSP.
// Prints a table in Markdown (docs/sequences.md).

#include <cstdlib>
#include <fstream>
#include <iostream>
#include <iterator>

#include <fmt/format.h>

#include "planning/sequences/lengths.hpp"
#include "planning/sequences/published_costs.hpp"
#include "planning/sequences/study.hpp"
#include "tests/planning/sequences/wikipedia_lengths.hpp"

namespace overlaptune {
namespace {

constexpr std::int64_t kKilo = 1024;

struct Row {
  const char* model;
  std::int64_t context;  ///< thousands of tokens
  double published;      ///< FlexSP's speedup over the static degree on Wikipedia
};

Study study_of(const Row& row, int gpus, std::size_t batch, std::size_t batches) {
  std::ifstream file(std::string(OVERLAPTUNE_SOURCE_DIR) +
                     "/examples/sequence_costs/flexsp-a100.json");
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const auto read =
      parse_published_costs(text, "flexsp-a100.json",
                            {.model = row.model, .max_length = row.context * kKilo, .gpus = gpus});
  if (!read) {
    std::cerr << read.error().message << '\n';
    std::exit(1);
  }
  StudyInput input{.gpus = {gpus, 8, read->memory_bytes}};
  const auto lengths = prepare_lengths(wikipedia_lengths(batch * batches * 11 / 10, 1),
                                       row.context * kKilo, TooLong::drop, 2 * gpus)
                           .lengths;
  for (std::size_t i = 0; i < batches; ++i) {
    const auto* from = lengths.data() + i * batch;
    input.batches.emplace_back(from, from + batch);
  }
  const Rates rates(read->costs, input.gpus);
  return run_study(rates, input, [](auto, auto, auto) { return true; });
}

int run() {
  constexpr Row kRows[] = {{"gpt-7b", 192, 1.72}, {"gpt-13b", 192, 1.59}, {"gpt-30b", 192, 1.64},
                           {"gpt-7b", 384, 1.46}, {"gpt-13b", 384, 1.43}, {"gpt-30b", 384, 1.53}};
  std::cout
      << "| model | context | static degree | speedup | published | over the best of each batch | "
         "above the bound % | buckets % mean, most | ms a batch mean, most |\n"
         "|---|--:|--:|--:|--:|--:|--:|--:|--:|\n";
  for (const Row& row : kRows) {
    const Study study = study_of(row, 64, 512, 40);
    std::cout << fmt::format(
        "| {} | {}k | {} | {:.2f} ({:.2f} to {:.2f}) | {:.2f} | {:.2f} | {:.1f} | {:.2f}, {:.2f} | "
        "{:.1f}, {:.1f} |\n",
        row.model, row.context, study.static_degree, study.speedup_static.mean,
        study.speedup_static.low, study.speedup_static.high, row.published,
        study.speedup_batch_adaptive.mean,
        100 * (study.mean_time_us / study.mean_lower_bound_us - 1), 100 * study.bucket_error_mean,
        100 * study.bucket_error_max, study.planning_ms_mean, study.planning_ms_max);
  }
  return 0;
}

}  // namespace
}  // namespace overlaptune

int main() {
  return overlaptune::run();
}
