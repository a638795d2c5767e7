#include <algorithm>
#include <chrono>
#include <functional>
#include <optional>
#include <utility>

#include "core/base/error.hpp"
#include "core/base/units.hpp"
#include "kernels/exchange.hpp"
#include "kernels/support.hpp"
#include "machine/worker/probes/probes.hpp"
#include "run/exchange/collective.hpp"
#include "run/gemm/occupied.hpp"
#include "run/streams/stream_wait.hpp"

namespace overlaptune::cuda {
namespace {

constexpr int kFewestLaunches = 10;
constexpr int kMostLaunches = 40;
constexpr Microseconds kBudget = us(20'000);

std::vector<Microseconds> replay_times(Workbench& bench, int kernels) {
  const Replay replay(bench.world, 1, [&](cudaStream_t stream, int) {
    for (int i = 0; i < kernels; ++i) OVT_CHECK(kernels::nothing(stream));
  });
  static_cast<void>(bench.timer.rounds({std::cref(replay)}, 3));
  return bench.timer.until_quiet(std::cref(replay), kFewestLaunches, kMostLaunches, kBudget).times;
}

/// Time from the end of one kernel to the start of the next: the period of a chain of empty
/// kernels.
std::vector<Microseconds> gap_times(Workbench& bench) {
  constexpr int kChain = 33;
  const auto one = replay_times(bench, 1);
  auto many = replay_times(bench, kChain);
  many.resize(std::min(many.size(), one.size()));
  for (std::size_t i = 0; i < many.size(); ++i) many[i] = (many[i] - one[i]) / (kChain - 1);
  return many;
}

/// Host time to submit a GEMM of the library or a collective of NCCL: the mean of the two, because
/// plans consist of these.
Expected<std::vector<Microseconds>> submit_times(Workbench& bench) {
  constexpr int kCalls = 50;
  constexpr std::int64_t kSize = 256;
  const run::GemmShape shape{.m = kSize, .n = kSize, .k = kSize};
  const std::int64_t bytes = kSize * kSize * bytes_of(Dtype::bf16);
  run::GemmOperands operands;
  void* buffer = nullptr;
  const auto room = placed(bench.world, [&](Bump& bump) {
    operands = {bump.take(bytes), bump.take(bytes), bump.take(bytes)};
    buffer = bump.take(4096);
  });
  if (!room) return error_of(room);
  const auto choice = bench.library.choose(shape, std::span(&operands, 1));
  if (!choice) return error_of(choice);
  const run::CommKey route{.ranks = bench.world.ranks()};
  const cudaStream_t stream = bench.world.stream();
  std::vector<Microseconds> times;
  for (int i = 0; i <= kFewestLaunches; ++i) {
    bench.world.barrier(stream);
    OVT_CHECK(cudaStreamSynchronize(stream));
    const auto start = std::chrono::steady_clock::now();
    for (int call = 0; call < kCalls; ++call) {
      bench.library.enqueue(stream, shape, *choice, operands);
      run::enqueue(stream, bench.world, route, Collective::all_reduce, kMovedDtype, buffer, buffer,
                   64);
    }
    const Microseconds spent = std::chrono::steady_clock::now() - start;
    OVT_CHECK(cudaStreamSynchronize(stream));
    if (i > 0) times.push_back(spent / (2 * kCalls));
  }
  return times;
}

/// Time of an empty kernel on an idle stream, from the event before it to the event after it.
std::vector<Microseconds> first_times(Workbench& bench) {
  const cudaStream_t stream = bench.world.stream();
  const run::Event start = run::make_event(true);
  const run::Event end = run::make_event(true);
  std::vector<Microseconds> times;
  for (int i = 0; i <= kFewestLaunches; ++i) {
    OVT_CHECK(cudaStreamSynchronize(stream));
    OVT_CHECK(cudaEventRecord(start.get(), stream));
    OVT_CHECK(kernels::nothing(stream));
    OVT_CHECK(cudaEventRecord(end.get(), stream));
    OVT_CHECK(cudaEventSynchronize(end.get()));
    if (i > 0) times.push_back(between(start, end));
  }
  return times;
}

/// Times the trigger: from a kernel's signal to the start of the kernel behind a wait for it, by
/// the GPU's own timer.
class TriggerTimer {
 public:
  explicit TriggerTimer(const run::World& world) : world_(world) {}

  /// Forks from `producer`, and joins it again.
  void enqueue(cudaStream_t producer, Wait wait) const {
    OVT_CHECK(cudaMemsetAsync(memory_.get(), 0, kBytes, producer));
    OVT_CHECK(cudaEventRecord(fork_.get(), producer));
    OVT_CHECK(cudaStreamWaitEvent(consumer_.get(), fork_.get(), 0));
    // The kernel that signals is submitted before the wait, so no wait can be left without it.
    OVT_CHECK(kernels::spin(producer, 60'000));
    OVT_CHECK(kernels::stamp_and_signal(producer, stamps(), flag()));
    run::wait_for_signal(consumer_.get(), world_.alone(), {flag(), 1}, wait);
    OVT_CHECK(kernels::stamp(consumer_.get(), stamps() + 1));
    OVT_CHECK(cudaEventRecord(join_.get(), consumer_.get()));
    OVT_CHECK(cudaStreamWaitEvent(producer, join_.get(), 0));
  }

  /// The time that the last run on the stream measured; at least 0.1 us, however coarse the timer
  /// is.
  [[nodiscard]] Microseconds seen(cudaStream_t stream) const {
    std::uint64_t at[2] = {};
    OVT_CHECK(cudaMemcpyAsync(at, stamps(), sizeof at, cudaMemcpyDeviceToHost, stream));
    OVT_CHECK(cudaStreamSynchronize(stream));
    return std::max(us(0.1), us(1e-3 * (static_cast<double>(at[1]) - static_cast<double>(at[0]))));
  }

 private:
  static constexpr std::size_t kBytes = 256;
  [[nodiscard]] std::uint64_t* stamps() const { return static_cast<std::uint64_t*>(memory_.get()); }
  [[nodiscard]] std::uint32_t* flag() const {
    return reinterpret_cast<std::uint32_t*>(stamps() + 2);
  }

  const run::World& world_;
  run::DeviceMemory memory_ = run::device_memory(kBytes);
  run::Stream consumer_ = run::make_stream(run::Priority::high);
  run::Event fork_ = run::make_event(false);
  run::Event join_ = run::make_event(false);
};

std::vector<Microseconds> trigger_times(Workbench& bench, Launch launch, Wait wait) {
  const cudaStream_t stream = bench.world.stream();
  const TriggerTimer timer(bench.world);
  std::optional<Replay> replay;
  if (launch == Launch::graph) {
    replay.emplace(bench.world, 1, [&](cudaStream_t to, int) { timer.enqueue(to, wait); });
  }
  std::vector<Microseconds> times;
  for (int i = 0; i <= kFewestLaunches; ++i) {
    if (replay) {
      (*replay)(stream, 0);
    } else {
      timer.enqueue(stream, wait);
    }
    const Microseconds time = timer.seen(stream);
    if (i > 0) times.push_back(time);
  }
  return times;
}

/// Time to copy a staged group of 64 MB into place on `sms` SMs, for each megabyte.
std::vector<Microseconds> reorder_times(Workbench& bench, int sms) {
  constexpr std::int64_t kRows = 4096;
  constexpr std::int64_t kRowBytes = 15616;
  constexpr auto kBytes = static_cast<std::size_t>(kRows * kRowBytes);
  const run::DeviceMemory from = run::device_memory(kBytes);
  const run::DeviceMemory to = run::device_memory(2 * kBytes);
  const Task task = [&](cudaStream_t stream, int) {
    OVT_CHECK(kernels::move(stream, {.to = to.get(),
                                     .from = from.get(),
                                     .row_bytes = kRowBytes,
                                     .rows = kRows,
                                     .stride = 2 * kRowBytes}));
  };
  static_cast<void>(bench.timer.rounds({task}, 2));
  const run::Occupied others(bench.world.stream(), bench.sms - sms);
  auto times = bench.timer.until_quiet(task, 5, 10, kBudget).times;
  for (Microseconds& time : times) time /= static_cast<double>(kBytes) / 1e6;
  return times;
}

Expected<std::vector<Microseconds>> times_of(Workbench& bench, LaunchCost cost) {
  switch (cost) {
    case LaunchCost::graph_replay:
      return replay_times(bench, 1);
    case LaunchCost::graph_kernel:
      return gap_times(bench);
    case LaunchCost::eager_submit:
      return submit_times(bench);
    case LaunchCost::eager_first:
      return first_times(bench);
    case LaunchCost::signal_trigger:
      return trigger_times(bench, Launch::eager, Wait::driver);
    case LaunchCost::driver_trigger:
      return trigger_times(bench, Launch::graph, Wait::driver);
    case LaunchCost::kernel_trigger:
      return trigger_times(bench, Launch::graph, Wait::kernel);
    case LaunchCost::reorder_per_mb:
      return reorder_times(bench, bench.sms);
    case LaunchCost::reorder_on_few_sms_per_mb:
      return reorder_times(bench, kFewSms);
  }
  return {};
}

}  // namespace

Expected<Samples> measure(Workbench& bench, const LaunchProbe& probe) {
  auto times = times_of(bench, probe.cost);
  if (!times) return error_of(times);
  return Samples{.times = std::move(*times), .conditions = bench.nvml.conditions()};
}

}  // namespace overlaptune::cuda
