#include "tests/gpu/plan_check/winners.hpp"

#include <algorithm>
#include <array>
#include <overlaptune/overlaptune.hpp>

#include "abi/values.hpp"
#include "core/error.hpp"
#include "core/statistics.hpp"
#include "db/store.hpp"
#include "kernels/support.hpp"

namespace overlaptune::plan_check {
namespace {

constexpr int kWarmUps = 5;
constexpr int kRepetitions = 25;
constexpr double kSettling = 0.3;  // seconds, until clock and power are those of this mix
/// Until the host has enqueued a repetition.
constexpr std::int64_t kHeadStart = 60'000;  // ns
/// Operand sets together hold so much: twice the largest L2 cache there is.
constexpr std::int64_t kCold = std::int64_t{128} << 20;
constexpr std::int64_t kAlign = 4096;

struct Operands {
  std::byte* a;
  std::byte* b;
  std::byte* c;
};

std::int64_t set_bytes(const ovt_sizes& sizes) {
  return sizes.a_bytes + sizes.b_bytes + sizes.c_bytes + 3 * kAlign;
}

std::int64_t set_count(const ovt_sizes& sizes) {
  return std::clamp<std::int64_t>((kCold + set_bytes(sizes) - 1) / set_bytes(sizes), 2, 8);
}

/// Laid out in `memory`, which stays for all problems: NCCL remembers by its address what a graph
/// was captured with.
std::vector<Operands> operand_sets(Bench& bench, void* memory, const Problem& problem,
                                   const ovt_sizes& sizes) {
  auto* free = static_cast<std::byte*>(memory);
  const auto take = [&free](std::int64_t bytes) {
    std::byte* const taken = free;
    free += (bytes + kAlign - 1) / kAlign * kAlign;
    return taken;
  };
  std::vector<Operands> sets;
  for (std::int64_t i = 0; i < set_count(sizes); ++i) {
    const Operands set{take(sizes.a_bytes), take(sizes.b_bytes), take(sizes.c_bytes)};
    const auto seed = static_cast<std::uint64_t>(16 * bench.seat().rank() + 2 * i);
    kernels::fill_normal(bench.stream(), set.a, problem.dtype, sizes.a_bytes / kElementBytes, seed);
    kernels::fill_normal(bench.stream(), set.b, problem.dtype, sizes.b_bytes / kElementBytes,
                         seed + 1);
    sets.push_back(set);
  }
  return sets;
}

/// A plan captured once for each operand set, with the world's memory for what is exchanged.
class Replays {
 public:
  Replays(Bench& bench, const Problem& problem, const Config& config,
          const std::vector<Operands>& sets)
      : plan_(bench, problem, config) {
    check(plan_.status());
    const ovt_buffers buffers = plan_.buffers();
    for (const Operands& set : sets) {
      const run::Graph graph = run::captured(bench.stream(), [&](cudaStream_t stream) {
        plan_.run(buffers.a != nullptr ? buffers.a : set.a, set.b,
                  buffers.c != nullptr ? buffers.c : set.c, stream);
      });
      graphs_.push_back(run::instantiated(graph));
      OVT_CHECK(cudaGraphUpload(graphs_.back().get(), bench.stream()));
    }
  }

  void launch(cudaStream_t stream, int turn) const {
    const auto set = static_cast<std::size_t>(turn) % graphs_.size();
    OVT_CHECK(cudaGraphLaunch(graphs_[set].get(), stream));
  }

 private:
  MadePlan plan_;  // outlives its graphs
  std::vector<run::GraphExec> graphs_{};
};

using Plans = std::array<const Replays*, 2>;

/// One after the other, the host ahead of the GPU; of each repetition the slowest rank, in
/// microseconds.
std::array<std::vector<double>, 2> rounds(Bench& bench, const Plans& plans, int repetitions) {
  const cudaStream_t stream = bench.stream();
  const run::DeviceMemory stamp = run::device_memory(sizeof(kernels::ClockStamp));
  std::vector<run::Event> events;
  kernels::spin(stream, kHeadStart * repetitions);
  for (int turn = 0; turn < repetitions; ++turn) {
    for (const Replays* plan : plans) {
      bench.barrier();
      // As tuning does: something small between the ranks' meeting and what is timed.
      kernels::stamp_clock(stream, static_cast<kernels::ClockStamp*>(stamp.get()));
      events.push_back(run::make_event(true));
      OVT_CHECK(cudaEventRecord(events.back().get(), stream));
      plan->launch(stream, turn);
      events.push_back(run::make_event(true));
      OVT_CHECK(cudaEventRecord(events.back().get(), stream));
    }
  }
  bench.finish();
  std::array<std::vector<double>, 2> times;
  for (std::size_t i = 0; i < events.size(); i += 2) {
    float ms = 0;
    OVT_CHECK(cudaEventElapsedTime(&ms, events[i].get(), events[i + 1].get()));
    times[i / 2 % times.size()].push_back(1e3 * static_cast<double>(ms));
  }
  for (auto& each : times) each = bench.largest(each);
  return times;
}

struct Medians {
  double winner = 0;
  double sequential = 0;
};

Medians medians(Bench& bench, void* memory, const Problem& problem, const Config& winner) {
  const std::vector<Operands> sets =
      operand_sets(bench, memory, problem, sizes_of(problem, winner));
  const Replays first(bench, problem, winner, sets);
  const Replays second(bench, problem, Config{}, sets);
  const Plans plans{&first, &second};
  const auto warm = rounds(bench, plans, kWarmUps);
  const double once = (quantile(warm[0], 0.5) + quantile(warm[1], 0.5)) / 1e6;
  const int settling = static_cast<int>(std::clamp(kSettling / once, 1.0, 2000.0));
  for (int i = 0; i < settling; ++i) {
    for (const Replays* plan : plans) plan->launch(bench.stream(), i);
  }
  const auto times = rounds(bench, plans, kRepetitions);
  return {quantile(times[0], 0.5), quantile(times[1], 0.5)};
}

std::vector<Problem> stored_problems(const std::filesystem::path& file, const Platform& platform) {
  const Store store(file, Access::read);
  std::vector<Problem> problems;
  for (const StoredPlatform& stored : store.platforms()) {
    if (stored.platform != platform) continue;
    store.each_brief_winner(stored.id, [&](const BriefWinner& winner) {
      if (winner.launch == Launch::graph) problems.push_back(winner.problem);
    });
  }
  return problems;
}

struct Asked {
  Problem problem{};
  ovt_answer answer{};
  Config config{};
};

void time_winner(Bench& bench, void* memory, const Asked& asked, Results& results) {
  const Medians seen = medians(bench, memory, asked.problem, asked.config);
  results.row(to_string(asked.problem), true,
              fmt::format("{:<9} {:>9.1f} {:>9.1f} {:>6.3f}   {:>9.1f} {:>9.1f} {:>6.3f}",
                          to_string(asked.config.strategy), asked.answer.measured_us, seen.winner,
                          seen.winner / asked.answer.measured_us,
                          asked.answer.baseline_us / asked.answer.measured_us,
                          seen.sequential / seen.winner, seen.sequential));
}

}  // namespace

void time_winners(Bench& bench, const std::filesystem::path& file, std::vector<Problem> problems,
                  Results& results) {
  ovt_platform described{};
  described.size = sizeof described;
  check(ovt_platform_detect(bench.world(), &described));
  if (problems.empty()) problems = stored_problems(file, c::platform_of(&described));
  if (problems.empty()) {
    results.row(file.string(), false, "has no winners of this platform");
    return;
  }
  const ovt::Database database({file}, &described);
  std::vector<Asked> list;
  std::int64_t shared = 0;
  std::int64_t operands = 0;
  for (const Problem& problem : problems) {
    const ovt_answer answer = database.query(problem_of(problem));
    if (answer.source != OVT_EXACT) {
      results.row(to_string(problem), false, answer.reason);
      continue;
    }
    list.push_back({problem, answer, c::config_of(&answer)});
    const ovt_sizes sizes = sizes_of(problem, list.back().config);
    shared = std::max({shared, sizes.shared_bytes, sizes_of(problem, Config{}).shared_bytes});
    operands = std::max(operands, set_count(sizes) * set_bytes(sizes));
  }
  if (list.empty()) return;
  check(ovt_world_reserve(bench.world(), shared));
  const run::DeviceMemory memory = run::device_memory(static_cast<std::size_t>(operands));
  results.print(fmt::format("{:<52} {:<7} {:<9} {:>9} {:>9} {:>6}   {:>9} {:>9} {:>6}", "winner",
                            "", "strategy", "stored us", "us", "ratio", "speedup*", "speedup",
                            "sequential us"));
  for (const Asked& asked : list) time_winner(bench, memory.get(), asked, results);
  results.print("speedup: over sequential, in the same rounds; *: stored");
}

}  // namespace overlaptune::plan_check
