// Times the model and the search on one core, with measurements of a simulated machine.

#include <algorithm>

#include <benchmark/benchmark.h>

#include "fitted.hpp"
#include "held_out.hpp"
#include "model/recipes/recipes.hpp"
#include "model/search.hpp"

namespace overlaptune {
namespace {

const FittedMachine& fitted() {
  static const FittedMachine machine = fit_simulated("h200-nvlink-x8", 8);
  return machine;
}

constexpr Problem kLarge{Op::gemm_reduce_scatter, 16384, 8192, 3584, Elements::bf16, 8};

void fit(benchmark::State& state) {
  const FittedMachine& machine = fitted();
  for (auto _ : state) {
    auto model = Model::fit(machine.machine->platform(), machine.measurements);
    benchmark::DoNotOptimize(model);
  }
  state.counters["measurements"] = static_cast<double>(machine.measurements.size());
}
BENCHMARK(fit)->Unit(benchmark::kMillisecond);

void search_space(benchmark::State& state, Space space) {
  const Model& model = fitted().model;
  for (auto _ : state) {
    auto best = search(model, kLarge, Launch::graph, {.space = space});
    benchmark::DoNotOptimize(best);
  }
}
BENCHMARK_CAPTURE(search_space, full_16384x8192x3584_reduce_scatter, Space::full)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_space, subset_16384x8192x3584_reduce_scatter, Space::subset)
    ->Unit(benchmark::kMillisecond);

constexpr Weight kWeight{Op::gemm_reduce_scatter, 8192, 3584, Elements::bf16, 8};

void make_recipe(benchmark::State& state) {
  const LearnedModel model(fit_simulated("h200-nvlink-x8", 8).model);
  for (auto _ : state) {
    auto recipe = make_recipe(model, kWeight, {});
    benchmark::DoNotOptimize(recipe);
  }
}
BENCHMARK(make_recipe)->Unit(benchmark::kMillisecond);

/// The config and the work of ever other rows, as a family of plans makes them.
void recipe_config(benchmark::State& state) {
  const LearnedModel model(fit_simulated("h200-nvlink-x8", 8).model);
  const Recipe recipe = value_or_throw(make_recipe(model, kWeight, {}));
  std::int64_t rows = 0;
  for (auto _ : state) {
    rows = (rows + 8 * 1009) % recipe.most_rows();
    auto config = value_or_throw(config_for(recipe, rows + 8));
    auto work = Work::make(problem_of(kWeight, rows + 8), std::move(config));
    benchmark::DoNotOptimize(work);
  }
}
BENCHMARK(recipe_config)->Unit(benchmark::kMicrosecond);

/// Long contexts. The argument is the number of rows, in units of 1024.
void search_long(benchmark::State& state, Op op, Space space) {
  const Model& model = fitted().model;
  const Problem problem{op, state.range(0) << 10, 8192, 3584, Elements::bf16, 8};
  for (auto _ : state) {
    auto best = search(model, problem, Launch::graph, {.space = space});
    benchmark::DoNotOptimize(best);
  }
}
BENCHMARK_CAPTURE(search_long, full_all_reduce_k_rows, Op::gemm_all_reduce, Space::full)
    ->RangeMultiplier(2)
    ->Range(64, 1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_long, full_reduce_scatter_k_rows, Op::gemm_reduce_scatter, Space::full)
    ->RangeMultiplier(4)
    ->Range(64, 1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_long, full_all_to_all_k_rows, Op::gemm_all_to_all, Space::full)
    ->RangeMultiplier(4)
    ->Range(64, 1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_long, full_all_gather_k_rows, Op::all_gather_gemm, Space::full)
    ->RangeMultiplier(4)
    ->Range(64, 1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_long, subset_all_reduce_k_rows, Op::gemm_all_reduce, Space::subset)
    ->RangeMultiplier(2)
    ->Range(16, 1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_long, subset_reduce_scatter_k_rows, Op::gemm_reduce_scatter, Space::subset)
    ->RangeMultiplier(4)
    ->Range(64, 1024)
    ->Unit(benchmark::kMillisecond);

BENCHMARK_CAPTURE(search_long, subset_all_gather_k_rows, Op::all_gather_gemm, Space::subset)
    ->RangeMultiplier(4)
    ->Range(16, 1024)
    ->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(search_long, subset_all_to_all_k_rows, Op::gemm_all_to_all, Space::subset)
    ->RangeMultiplier(4)
    ->Range(16, 1024)
    ->Unit(benchmark::kMillisecond);

/// The subset on problems of all sizes, one after the other; its regret, under the model, against
/// the full space.
void search_subset_held_out(benchmark::State& state) {
  const Model& model = fitted().model;
  const std::vector<Problem> problems = held_out_problems(200, 8, 42);
  std::size_t next = 0;
  for (auto _ : state) {
    auto best =
        search(model, problems[next++ % problems.size()], Launch::graph, {.space = Space::subset});
    benchmark::DoNotOptimize(best);
  }
  double sum = 0;
  double most = 0;
  for (const Problem& problem : problems) {
    const auto full = search(model, problem, Launch::graph, {});
    const auto subset = search(model, problem, Launch::graph, {.space = Space::subset});
    const double regret = subset->front().time / full->front().time - 1;
    sum += regret;
    most = std::max(most, regret);
  }
  state.counters["regret_mean_percent"] = 100 * sum / static_cast<double>(problems.size());
  state.counters["regret_max_percent"] = 100 * most;
}
BENCHMARK(search_subset_held_out)->Unit(benchmark::kMillisecond);

void predict(benchmark::State& state) {
  const Model& model = fitted().model;
  const Config config = search(model, kLarge, Launch::graph, {})->front().config;
  for (auto _ : state) {
    auto prediction = model.predict(kLarge, config, Launch::graph);
    benchmark::DoNotOptimize(prediction);
  }
}
BENCHMARK(predict)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace overlaptune
