#include <algorithm>

#include "core/base/error.hpp"
#include "kernels/support.hpp"
#include "machine/worker/probes/probes.hpp"
#include "run/gemm/occupied.hpp"

namespace overlaptune::cuda {
namespace {

/// Sets of filled operands to rotate between.
Expected<std::vector<run::GemmOperands>> take_operands(Workbench& bench, const GemmProbe& probe) {
  const std::int64_t a = probe.m * probe.k;
  const std::int64_t b = probe.n * probe.k;
  const std::int64_t c = probe.m * probe.n;
  const Dtype operand = operand_of(probe.elements);
  const std::int64_t bytes = bytes_of(operand);
  const std::int64_t c_bytes = c * result_bytes(probe.elements);
  const int sets = bench.cold_sets((a + b) * bytes + c_bytes);
  std::vector<run::GemmOperands> operands(static_cast<std::size_t>(sets));
  const auto room = placed(bench.world, [&](Bump& bump) {
    for (run::GemmOperands& set : operands) {
      set = {bump.take(a * bytes), bump.take(b * bytes), bump.take(c_bytes),
             bump.take_scales(probe.elements, probe.m, probe.n)};
    }
  });
  if (!room) return error_of(room);
  const cudaStream_t stream = bench.world.stream();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    OVT_CHECK(
        kernels::fill_normal(stream, const_cast<void*>(operands[i].a), operand, a, 2 * i + 1));
    OVT_CHECK(
        kernels::fill_normal(stream, const_cast<void*>(operands[i].b), operand, b, 2 * i + 2));
    OVT_CHECK(fill_scales(stream, probe, operands[i].scales));
  }
  return operands;
}

/// Times replays of `submit(stream, set)`, while `occupied` SMs are kept busy by another kernel.
Samples timed(Workbench& bench, std::size_t sets, int occupied, Microseconds settling,
              const Task& submit) {
  const Replay replay(bench.world, static_cast<int>(sets), submit);
  const auto task = [&](cudaStream_t to, int turn) { replay(to, turn); };
  static_cast<void>(bench.timer.rounds({task}, 1));
  const run::Occupied others(bench.world.stream(), occupied);
  bench.timer.sustain({task}, settling);
  Timed seen = bench.timer.until_quiet(task, 5, 15, us(10'000));
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
  Samples samples =
      timed(bench, operands.size(), shape.sms > 0 ? bench.sms - shape.sms : 0, us(40'000),
            [&](cudaStream_t to, int set) {
              bench.library.enqueue(to, shape, *choice, operands[static_cast<std::size_t>(set)]);
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
  return timed(bench, operands.size(), 0, us(15'000), [&](cudaStream_t to, int set) {
    (*gemm)->enqueue(to, launches[static_cast<std::size_t>(set)]);
  });
}

}  // namespace

cudaError_t fill_scales(cudaStream_t stream, const GemmProbe& probe,
                        const run::ScaleOperands& scales) {
  if (!is_scaled(probe.elements)) return cudaSuccess;
  const cudaError_t status = kernels::fill_scales(stream, const_cast<float*>(scales.a), nullptr,
                                                  scale_count(probe.elements, probe.m), 1);
  if (status != cudaSuccess) return status;
  return kernels::fill_scales(stream, const_cast<float*>(scales.b), nullptr,
                              scale_count(probe.elements, probe.n), 2);
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

Expected<Samples> measure_gemm(Workbench& bench, const GemmProbe& probe) {
  const auto operands = take_operands(bench, probe);
  if (!operands) return error_of(operands);
  return probe.tile.is_library() ? measure_library(bench, probe, *operands)
                                 : measure_own(bench, probe, *operands);
}

}  // namespace overlaptune::cuda
