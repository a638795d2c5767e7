#include "machine/worker/timing.hpp"

#include <algorithm>

#include "core/statistics.hpp"
#include "kernels/support.hpp"

namespace overlaptune::cuda {
namespace {

/// Time in which the host can submit a barrier, two events, two stamps and a graph, for each slot.
constexpr std::int64_t kHeadStart = 40'000;      // ns
constexpr std::int64_t kHeadStartSlot = 12'000;  // ns
constexpr double kQuiet = 0.02;
constexpr std::size_t kMostSlots = 64;
/// The GPU's timer has steps of up to a microsecond, so short times give no clock.
constexpr double kLeastForClock = 50'000;  // ns

double spread(std::vector<double> times) {
  return (quantile(times, 0.9) - quantile(times, 0.1)) / quantile(times, 0.5);
}

}  // namespace

int cold_sets(std::int64_t bytes, std::int64_t l2_bytes) {
  constexpr std::int64_t kMostSets = 8;
  if (bytes >= 2 * l2_bytes) return 1;
  return static_cast<int>(
      std::clamp<std::int64_t>((2 * l2_bytes + bytes - 1) / bytes, 2, kMostSets));
}

Microseconds between(const run::Event& from, const run::Event& to) {
  float ms = 0;
  OVT_CHECK(cudaEventElapsedTime(&ms, from.get(), to.get()));
  return us(1e3 * static_cast<double>(ms));
}

Replay::Replay(run::World& world, int sets, const Task& submit) {
  for (int set = 0; set < sets; ++set) {
    const run::Graph graph =
        run::captured(world.stream(), [&](cudaStream_t stream) { submit(stream, set); });
    graphs_.push_back(run::instantiated(graph));
    OVT_CHECK(cudaGraphUpload(graphs_.back().get(), world.stream()));
  }
}

void Replay::operator()(cudaStream_t stream, int turn) const {
  const auto set = static_cast<std::size_t>(turn) % graphs_.size();
  OVT_CHECK(cudaGraphLaunch(graphs_[set].get(), stream));
}

Timer::Timer(run::World& world) : world_(world) {
  make_slots(kMostSlots);
}

void Timer::make_slots(std::size_t count) {
  if (count <= slots_.size()) return;
  while (slots_.size() < count) slots_.push_back({run::make_event(true), run::make_event(true)});
  stamps_ = run::device_memory(2 * count * sizeof(kernels::ClockStamp));
}

std::vector<Timed> Timer::rounds(const std::vector<Task>& tasks, int repetitions,
                                 const Around& around) {
  const cudaStream_t stream = world_.stream();
  std::vector<Timed> results(tasks.size());
  std::vector<kernels::ClockStamp> seen;
  std::vector<double> cycles(tasks.size(), 0);
  std::vector<double> spent(tasks.size(), 0);
  const int at_once = std::max(1, static_cast<int>(kMostSlots / tasks.size()));
  for (int done = 0; done < repetitions; done += at_once) {
    const int now = std::min(at_once, repetitions - done);
    const std::size_t count = tasks.size() * static_cast<std::size_t>(now);
    make_slots(count);
    auto* const stamps = static_cast<kernels::ClockStamp*>(stamps_.get());
    OVT_CHECK(kernels::spin(stream, kHeadStart + (kHeadStartSlot + around.submission) *
                                                     static_cast<std::int64_t>(count)));
    for (std::size_t slot = 0; slot < count; ++slot) {
      if (around.before) around.before(stream);
      world_.barrier(stream);
      OVT_CHECK(kernels::stamp_clock(stream, stamps + 2 * slot));
      OVT_CHECK(cudaEventRecord(slots_[slot].start.get(), stream));
      tasks[slot % tasks.size()](stream, turn_++);
      OVT_CHECK(cudaEventRecord(slots_[slot].end.get(), stream));
      OVT_CHECK(kernels::stamp_clock(stream, stamps + 2 * slot + 1));
      if (around.after) around.after(stream);
      if ((slot + 1) % tasks.size() == 0) end_round(tasks.size());
    }
    seen.resize(2 * count);
    OVT_CHECK(cudaMemcpyAsync(seen.data(), stamps, seen.size() * sizeof seen[0],
                              cudaMemcpyDeviceToHost, stream));
    OVT_CHECK(cudaStreamSynchronize(stream));
    for (std::size_t slot = 0; slot < count; ++slot) {
      const std::size_t task = slot % tasks.size();
      results[task].times.push_back(between(slots_[slot].start, slots_[slot].end));
      const kernels::ClockStamp& from = seen[2 * slot];
      const kernels::ClockStamp& to = seen[2 * slot + 1];
      if (from.sm != to.sm || to.cycles <= from.cycles) continue;
      cycles[task] += static_cast<double>(to.cycles - from.cycles);
      spent[task] += static_cast<double>(to.nanoseconds - from.nanoseconds);
    }
  }
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    if (spent[task] > kLeastForClock) {
      results[task].sm_clock_mhz = 1e3 * cycles[task] / spent[task];
    }
  }
  last_round_ = std::chrono::steady_clock::now();
  return results;
}

Timed Timer::until_quiet(const Task& task, int least, int most, Microseconds budget) {
  Timed mine;
  std::vector<double> slowest;
  double spent = 0;
  while (static_cast<int>(mine.times.size()) < most) {
    const int more = std::min(least, most - static_cast<int>(mine.times.size()));
    const Timed batch = rounds({task}, more).front();
    mine.times.insert(mine.times.end(), batch.times.begin(), batch.times.end());
    mine.sm_clock_mhz = batch.sm_clock_mhz;
    std::vector<double> times;
    for (const Microseconds time : batch.times) times.push_back(time.count());
    for (const double time : world_.largest(times)) {
      slowest.push_back(time);
      spent += time;
    }
    if (spent > budget.count() || spread(slowest) < kQuiet) break;
  }
  return mine;
}

std::vector<Timed> Timer::spread_rounds(const std::vector<Task>& tasks, int repetitions,
                                        Microseconds pause) {
  constexpr int kAtOnce = 3;
  std::vector<Timed> results(tasks.size());
  std::vector<std::vector<double>> clocks(tasks.size());
  for (int done = 0; done < repetitions; done += kAtOnce) {
    sustain(tasks, pause);
    auto part = rounds(tasks, std::min(kAtOnce, repetitions - done));
    for (std::size_t task = 0; task < tasks.size(); ++task) {
      auto& times = results[task].times;
      times.insert(times.end(), part[task].times.begin(), part[task].times.end());
      if (part[task].sm_clock_mhz) clocks[task].push_back(*part[task].sm_clock_mhz);
    }
  }
  for (std::size_t task = 0; task < tasks.size(); ++task) {
    if (!clocks[task].empty()) results[task].sm_clock_mhz = quantile(clocks[task], 0.5);
  }
  return results;
}

void Timer::sustain(const std::vector<Task>& tasks, Microseconds duration) {
  constexpr int kMostReplays = 10'000;
  Microseconds once{};
  for (const Timed& timed : rounds(tasks, 1)) once += timed.times.front();
  once = us(world_.largest(once.count()));
  const int times = static_cast<int>(std::clamp(duration / once, 1.0, double{kMostReplays}));
  for (int i = 0; i < times; ++i) {
    for (const Task& task : tasks) task(world_.stream(), turn_++);
    end_round(tasks.size());
  }
}

void Timer::settle(const std::vector<Task>& tasks, Microseconds least, Microseconds most) {
  const Microseconds rested = std::chrono::steady_clock::now() - last_round_;
  const Microseconds longest = us(world_.largest(rested.count()));  // each rank repeats as often
  sustain(tasks, std::clamp(longest, least, most));
}

void Timer::end_round(std::size_t tasks) {
  if (tasks > 1) ++turn_;
}

}  // namespace overlaptune::cuda
