// GEMM and collective at once, each on a stream of its own. A chain of one of them is timed within
// a longer chain of the other.

#include <algorithm>
#include <cmath>
#include <functional>

#include "core/base/error.hpp"
#include "core/statistics.hpp"
#include "kernels/support.hpp"
#include "machine/worker/pair.hpp"
#include "run/gemm/occupied.hpp"

namespace overlaptune::cuda {
namespace {

constexpr int kRepetitions = 3;
constexpr int kRepetitionsAlone = 2;
constexpr int kLongestChain = 300;
/// Length of the surrounding chain relative to the timed one, both slowed.
constexpr double kMargin = 1.6;
constexpr int kTries = 3;
constexpr Microseconds kTimed = us(1500);
/// Upper limit of the host time to enqueue one piece of a chain.
constexpr std::int64_t kSubmission = 9'000;            // ns
constexpr std::int64_t kSubmissionOfCopies = 130'000;  // about fifty calls

struct Side {
  Task task;
  run::Priority priority{};
  Microseconds guess{};  ///< time of one piece on the slowest rank, for the lengths of chains
  std::int64_t submission = kSubmission;
};

/// Times of one piece, and the least time by which the surrounding chain outlasted the timed one.
struct ChainTimes {
  std::vector<Microseconds> times{};
  std::optional<double> sm_clock_mhz{};
  Microseconds margin{};
};

int length(Microseconds whole, const Side& side) {
  return static_cast<int>(std::clamp(std::ceil(whole / side.guess), 1.0, double{kLongestChain}));
}

std::optional<double> clock_of(const kernels::ClockStamp& from, const kernels::ClockStamp& to) {
  if (from.sm != to.sm || to.cycles <= from.cycles) return std::nullopt;
  return 1e3 * static_cast<double>(to.cycles - from.cycles) /
         static_cast<double>(to.nanoseconds - from.nanoseconds);
}

/// Runs chains of pieces. They are not graphs: parallel branches of a graph may share a hardware
/// queue, where a piece of one then waits for a piece of the other. All that a run needs is made in
/// advance, because freeing memory waits for everything to end, also for the kernel that occupies
/// SMs.
class Chains {
 public:
  explicit Chains(Workbench& bench)
      : bench_(bench), memory_(run::device_memory(2 * sizeof(kernels::ClockStamp))) {}

  ChainTimes run(const Side& timed, int inner, const Side& around, int outer, int repetitions) {
    ChainTimes result{.margin = us(1e9)};
    for (int i = -1; i < repetitions; ++i) {  // the first warms up
      enqueue(timed, inner, around, outer);
      OVT_CHECK(cudaStreamSynchronize(stream(timed)));
      OVT_CHECK(cudaStreamSynchronize(stream(around)));
      if (i < 0) continue;
      result.times.push_back(between(start_, end_) / inner);
      result.margin = std::min(result.margin, between(end_, around_end_));
    }
    kernels::ClockStamp seen[2];
    OVT_CHECK(
        cudaMemcpyAsync(seen, memory_.get(), sizeof seen, cudaMemcpyDeviceToHost, stream(timed)));
    OVT_CHECK(cudaStreamSynchronize(stream(timed)));
    result.sm_clock_mhz = clock_of(seen[0], seen[1]);
    return result;
  }

 private:
  /// The collective has the higher priority for free SMs, as in plans.
  cudaStream_t stream(const Side& side) const {
    return side.priority == run::Priority::high ? high_.get() : low_.get();
  }

  void enqueue(const Side& timed, int inner, const Side& around, int outer) {
    run::World& world = bench_.world;
    auto* const stamps = static_cast<kernels::ClockStamp*>(memory_.get());
    // The GPU waits until everything is enqueued.
    OVT_CHECK(kernels::spin(world.stream(),
                            100'000 + timed.submission * inner + around.submission * outer));
    world.barrier(world.stream());
    OVT_CHECK(cudaEventRecord(go_.get(), world.stream()));
    OVT_CHECK(cudaStreamWaitEvent(stream(around), go_.get(), 0));
    OVT_CHECK(cudaStreamWaitEvent(stream(timed), go_.get(), 0));
    OVT_CHECK(kernels::spin(stream(timed), 20'000));  // by then the other chain is under way
    for (int piece = 0; piece < outer; ++piece) around.task(stream(around), piece);
    OVT_CHECK(cudaEventRecord(around_end_.get(), stream(around)));
    OVT_CHECK(kernels::stamp_clock(stream(timed), stamps));
    OVT_CHECK(cudaEventRecord(start_.get(), stream(timed)));
    for (int piece = 0; piece < inner; ++piece) timed.task(stream(timed), piece);
    OVT_CHECK(cudaEventRecord(end_.get(), stream(timed)));
    OVT_CHECK(kernels::stamp_clock(stream(timed), stamps + 1));
  }

  Workbench& bench_;
  run::DeviceMemory memory_;
  run::Stream high_ = run::make_stream(run::Priority::high);
  run::Stream low_ = run::make_stream(run::Priority::normal);
  run::Event go_ = run::make_event(false);
  run::Event start_ = run::make_event(true);
  run::Event end_ = run::make_event(true);
  run::Event around_end_ = run::make_event(true);
};

Microseconds median(const std::vector<Microseconds>& times) {
  return summarize(times).median;
}

/// Time of one piece in clock cycles if the clock is known, which makes times at different clocks
/// comparable.
double cycles(Microseconds time, const std::optional<double>& clock_mhz, bool clocked) {
  return time.count() * (clocked ? clock_mhz.value_or(1) : 1);
}

/// The time of one side while the other runs. It is the time that a replay of a graph would take,
/// as in all other probes: chains alone and beside the other give a factor, which is applied to a
/// replay alone. Alone, a GEMM has no more SMs than beside the collective, which has `taken` SMs of
/// its own.
Expected<Timed> beside(Workbench& bench, Chains& chains, const Side& timed, const Side& around,
                       bool is_gemm, int taken, bool takes_part) {
  const int inner = length(kTimed, timed);
  int outer = length(inner * timed.guess * kMargin + us(100), around);
  ChainTimes together;
  bool outlasted = false;
  for (int attempt = 0; attempt < kTries && !outlasted; ++attempt) {
    together = chains.run(timed, inner, around, outer, kRepetitions);
    // All ranks that take part must agree.
    const double margin = takes_part ? together.margin.count() : 0;
    outlasted = bench.world.largest(-margin) <= 0;
    if (!outlasted) outer = std::min(2 * outer, kLongestChain);
  }
  if (!outlasted)
    return bad_input("concurrent: the other side ended first: it is too short beside");
  const Replay replay(bench.world, 1, timed.task);
  static_cast<void>(bench.timer.rounds({std::cref(replay)}, 1));
  ChainTimes alone;
  Timed replayed;
  {
    const run::Occupied others(bench.world.stream(), taken);
    alone = chains.run(timed, inner, around, 0, kRepetitionsAlone);
    replayed = bench.timer.rounds({std::cref(replay)}, 5).front();
  }
  const bool clocked =
      is_gemm && together.sm_clock_mhz && alone.sm_clock_mhz && replayed.sm_clock_mhz;
  const Microseconds once = std::max(us(0.5), median(replayed.times) - bench.replay);
  const double factor = cycles(once, replayed.sm_clock_mhz, clocked) /
                        cycles(median(alone.times), alone.sm_clock_mhz, clocked);
  Timed result{.sm_clock_mhz = together.sm_clock_mhz};
  for (const Microseconds time : together.times) {
    result.times.push_back(bench.replay + factor * time);
  }
  return result;
}

}  // namespace

Expected<Samples> measure(Workbench& bench, const ConcurrentProbe& probe) {
  const int ctas = probe.collective.comm_ctas;
  const bool persistent = ctas != kHandedOver;
  if (!persistent && probe.gemm.tile.is_library()) {
    return bad_input("comm_ctas = 0: expected beside a GEMM with a tile, one CTA for each");
  }
  const auto pair = Pair::make(
      bench, probe.gemm,
      {.sms = probe.gemm.sms > 0 ? probe.gemm.sms : bench.sms - ctas, .persistent = persistent},
      probe.collective);
  if (!pair) return error_of(pair);
  Side product{.task = [&](cudaStream_t to, int) { pair->enqueue_gemm(bench, to); },
               .priority = run::Priority::normal};
  Side exchange{.task = [&](cudaStream_t to, int) { pair->enqueue_collective(bench, to); },
                .priority = run::Priority::high};
  if (probe.collective.transport == Transport::copy_engine) {
    exchange.submission = kSubmissionOfCopies;
  }
  for (Side* side : {&product, &exchange}) {
    const auto times = bench.timer.rounds({side->task}, 4).front().times;
    side->guess = us(bench.world.largest(std::min(times[2], times[3]).count()));
  }
  Chains chains(bench);
  const bool takes_part = bench.world.rank() < probe.collective.ranks;
  auto products = beside(bench, chains, product, exchange, true, ctas, takes_part);
  if (!products) return error_of(products);
  auto exchanges = beside(bench, chains, exchange, product, false, 0, takes_part);
  if (!exchanges) return error_of(exchanges);
  return Samples{.times = std::move(products->times),
                 .collective_times = std::move(exchanges->times),
                 .conditions = bench.conditions(*products)};
}

}  // namespace overlaptune::cuda
