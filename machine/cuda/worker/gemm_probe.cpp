#include "core/error.hpp"
#include "kernels/support.hpp"
#include "machine/cuda/worker/probes.hpp"
#include "run/occupied.hpp"

namespace overlaptune::cuda {

Expected<Samples> measure_gemm(Workbench& bench, const GemmProbe& probe) {
  if (!probe.tile.is_library()) {
    return bad_input("gemm: tile " + to_string(probe.tile) + ": only the library's GEMM runs here");
  }
  const run::GemmShape shape{.m = probe.m,
                             .n = probe.n,
                             .k = probe.k,
                             .dtype = probe.dtype,
                             .sms = probe.sms == bench.sms ? 0 : probe.sms};
  const std::int64_t a = probe.m * probe.k;
  const std::int64_t b = probe.n * probe.k;
  const std::int64_t c = probe.m * probe.n;
  const int sets = bench.cold_sets((a + b + c) * kElementBytes);
  std::vector<run::GemmOperands> operands(static_cast<std::size_t>(sets));
  const auto room = placed(bench.world, [&](Bump& bump) {
    for (run::GemmOperands& set : operands) {
      set = {bump.take(a * kElementBytes), bump.take(b * kElementBytes),
             bump.take(c * kElementBytes)};
    }
  });
  if (!room) return tl::make_unexpected(room.error());
  const cudaStream_t stream = bench.world.stream();
  for (std::size_t i = 0; i < operands.size(); ++i) {
    kernels::fill_normal(stream, const_cast<void*>(operands[i].a), probe.dtype, a, 2 * i + 1);
    kernels::fill_normal(stream, const_cast<void*>(operands[i].b), probe.dtype, b, 2 * i + 2);
  }
  const auto choice = bench.library.choose(shape, operands);
  if (!choice) return tl::make_unexpected(choice.error());
  const Replay replay(bench.world, sets, [&](cudaStream_t to, int set) {
    bench.library.enqueue(to, shape, *choice, operands[static_cast<std::size_t>(set)]);
  });
  const auto work = [&](cudaStream_t to, int turn) { replay(to, turn); };
  static_cast<void>(bench.timer.rounds({work}, 1));
  const run::Occupied others(stream, shape.sms > 0 ? bench.sms - shape.sms : 0);
  bench.timer.sustain(work, us(40'000));
  Timed timed = bench.timer.until_quiet(work, 5, 15, us(10'000));
  Samples samples{.times = std::move(timed.times), .conditions = bench.conditions(timed)};
  if (!choice->tile.is_library()) samples.library_tile = choice->tile;
  return samples;
}

}  // namespace overlaptune::cuda
