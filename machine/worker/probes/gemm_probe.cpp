#include <algorithm>
#include <functional>

#include "core/base/error.hpp"
#include "core/base/index.hpp"
#include "kernels/support.hpp"
#include "machine/worker/probes/probes.hpp"
#include "run/gemm/occupied.hpp"

namespace overlaptune::cuda {
namespace {

struct Sizes {
  std::int64_t a;  ///< bytes of each matrix
  std::int64_t b;
  std::int64_t c;
};

Sizes sizes_of(const GemmProbe& probe) {
  const std::int64_t bytes = operand_bytes(probe.elements);
  return {probe.m * probe.k * bytes, probe.n * probe.k * bytes,
          probe.m * probe.n * result_bytes(probe.elements)};
}

/// Sets of filled operands to rotate between.
Expected<std::vector<run::GemmOperands>> filled_sets(Workbench& bench, const GemmProbe& probe) {
  const Sizes sizes = sizes_of(probe);
  const int sets = bench.cold_sets(sizes.a + sizes.b + sizes.c);
  std::vector<run::GemmOperands> operands(index(sets));
  const auto room = placed(bench.world, [&](Bump& bump) {
    for (run::GemmOperands& set : operands) set = take_operands(bump, probe);
  });
  if (!room) return error_of(room);
  for (std::size_t i = 0; i < operands.size(); ++i) {
    fill(bench.world.stream(), probe, operands[i], i);
  }
  return operands;
}

/// Times replays of `submit(stream, set)`, while `occupied` SMs are kept busy by another kernel.
Samples timed(Workbench& bench, std::size_t sets, int occupied, Microseconds settling,
              const Task& submit) {
  const Replay replay(bench.world, static_cast<int>(sets), submit);
  static_cast<void>(bench.timer.rounds({std::cref(replay)}, 1));
  const run::Occupied others(bench.world.stream(), occupied);
  bench.timer.sustain({std::cref(replay)}, settling);
  Timed seen = bench.timer.until_quiet(std::cref(replay), 5, 15, us(10'000));
  return {.times = std::move(seen.times), .conditions = bench.conditions(seen)};
}

Expected<Samples> measure_library(Workbench& bench, const GemmProbe& probe,
                                  std::span<const run::GemmOperands> operands) {
  const run::GemmShape shape{.m = probe.m,
                             .n = probe.n,
                             .k = probe.k,
                             .elements = probe.elements,
                             .sms = probe.sms == bench.sms ? run::kAllSms : probe.sms};
  const auto choice = bench.library.choose(shape, operands);
  if (!choice) return error_of(choice);
  Samples samples = timed(bench, operands.size(), shape.sms > 0 ? bench.sms - shape.sms : 0,
                          us(40'000), [&](cudaStream_t to, int set) {
                            bench.library.enqueue(to, shape, *choice, operands[index(set)]);
                          });
  if (!choice->tile.is_library()) samples.library_tile = choice->tile;
  return samples;
}

/// Measures a generated GEMM; its grid limits it to the SMs of the probe.
Expected<Samples> measure_own(Workbench& bench, const GemmProbe& probe,
                              std::span<const run::GemmOperands> operands) {
  const auto gemm = generated_gemm(bench, probe);
  if (!gemm) return error_of(gemm);
  const run::DeviceMemory counter = run::device_memory(sizeof(std::uint32_t));
  std::vector<run::GeneratedLaunch> launches;
  for (const run::GemmOperands& set : operands) {
    launches.push_back(generated_launch(
        **gemm, probe, {.sms = probe.sms > 0 ? probe.sms : bench.sms}, set, counter.get()));
  }
  // Settles for a shorter time than the library's GEMMs, to which the law of the clock is fitted.
  return timed(bench, operands.size(), 0, us(15'000),
               [&](cudaStream_t to, int set) { (*gemm)->enqueue(to, launches[index(set)]); });
}

}  // namespace

run::GemmOperands take_operands(Bump& bump, const GemmProbe& probe) {
  const Sizes sizes = sizes_of(probe);
  return {bump.take(sizes.a), bump.take(sizes.b), bump.take(sizes.c),
          bump.take_scales(probe.elements, probe.m, probe.n)};
}

void fill(cudaStream_t stream, const GemmProbe& probe, const run::GemmOperands& operands,
          std::size_t set) {
  const Dtype operand = operand_of(probe.elements);
  OVT_CHECK(kernels::fill_normal(stream, const_cast<void*>(operands.a), operand, probe.m * probe.k,
                                 2 * set + 1));
  OVT_CHECK(kernels::fill_normal(stream, const_cast<void*>(operands.b), operand, probe.n * probe.k,
                                 2 * set + 2));
  if (!is_scaled(probe.elements)) return;
  OVT_CHECK(kernels::fill_scales(stream, const_cast<float*>(operands.scales.a), nullptr,
                                 scale_count(probe.elements, probe.m), 1));
  OVT_CHECK(kernels::fill_scales(stream, const_cast<float*>(operands.scales.b), nullptr,
                                 scale_count(probe.elements, probe.n), 2));
}

Expected<const run::GeneratedGemm*> generated_gemm(Workbench& bench, const GemmProbe& probe) {
  auto gemm = bench.generated.gemm({.tile = probe.tile, .elements = probe.elements});
  // All ranks or none, because they are going to wait for each other.
  if (bench.world.largest(gemm ? 0 : 1) > 0) {
    return bad_input(gemm ? "another rank cannot compile it" : gemm.error().message);
  }
  return gemm;
}

run::GeneratedLaunch generated_launch(const run::GeneratedGemm& gemm, const GemmProbe& probe,
                                      const run::Crew& crew, const run::GemmOperands& operands,
                                      void* counter) {
  const TileOrder order{.block_rows = probe.m,
                        .n = probe.n,
                        .block_m = probe.tile.block_m,
                        .block_n = probe.tile.block_n,
                        .swizzle = std::max(probe.swizzle, 1),
                        .elements = probe.elements};
  const Region all{.end = order.tiles(), .rows = probe.m, .columns = probe.n};
  return gemm.prepare(order, crew,
                      {.a = operands.a,
                       .b = operands.b,
                       .k = probe.k,
                       .scales = operands.scales,
                       .segments = {{.region = all,
                                     .c = operands.c,
                                     .row_stride = probe.n,
                                     .block_stride = probe.m * probe.n}}},
                      static_cast<std::uint32_t*>(counter));
}

Expected<Samples> measure(Workbench& bench, const GemmProbe& probe) {
  const auto operands = filled_sets(bench, probe);
  if (!operands) return error_of(operands);
  return probe.tile.is_library() ? measure_library(bench, probe, *operands)
                                 : measure_own(bench, probe, *operands);
}

}  // namespace overlaptune::cuda
