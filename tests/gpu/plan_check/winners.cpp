#include "tests/gpu/plan_check/winners.hpp"

#include <algorithm>
#include <overlaptune/overlaptune.hpp>

#include "core/abi/values.hpp"
#include "core/base/error.hpp"
#include "core/statistics.hpp"
#include "db/store.hpp"
#include "kernels/support.hpp"
#include "machine/worker/alone.hpp"
#include "run/memory/sizes.hpp"

namespace overlaptune::plan_check {
namespace {

constexpr int kRepetitions = 24;
/// Time until clock and power have settled for this mix; then it is timed over about a second, as
/// winners are.
constexpr Microseconds kSettling = us(300'000);
constexpr Microseconds kPause = us(100'000);
constexpr int kFewestSets = 2;
constexpr std::int64_t kAlign = 4096;

/// Times as tuning does, with the same configs in turn: `sequential`, the winner, GEMM and
/// collective alone.
struct Stopwatch {
  explicit Stopwatch(ncclComm_t comm)
      : world(comm, {}, run::World::Scratch::make()), library(world), timer(world) {
    int device = 0;
    int bytes = 0;
    OVT_CHECK(cudaGetDevice(&device));
    OVT_CHECK(cudaDeviceGetAttribute(&bytes, cudaDevAttrL2CacheSize, device));
    l2_bytes = bytes;
  }

  run::World world;
  run::GemmLibrary library;
  cuda::Timer timer;
  std::int64_t l2_bytes = 0;
};

std::int64_t set_bytes(const ovt_sizes& sizes) {
  return sizes.a_bytes + sizes.b_bytes + sizes.c_bytes + 3 * kAlign;
}

std::int64_t set_count(const ovt_sizes& sizes, const Stopwatch& stopwatch) {
  return std::max(kFewestSets, cuda::cold_sets(sizes.a_bytes + sizes.b_bytes + sizes.c_bytes,
                                               stopwatch.l2_bytes));
}

/// Bytes of all operand sets, and of a workspace for GEMM and collective alone.
std::int64_t operand_bytes(const Problem& problem, const ovt_sizes& sizes,
                           const Stopwatch& stopwatch) {
  return set_count(sizes, stopwatch) * set_bytes(sizes) + run::most_workspace_bytes(problem);
}

/// Operand sets in `memory`, which stays for all problems, because NCCL remembers by its address
/// what a graph was captured with.
std::vector<run::Operands> operand_sets(Bench& bench, const Stopwatch& stopwatch, void* memory,
                                        const Problem& problem, const ovt_sizes& sizes) {
  auto* free = static_cast<std::byte*>(memory);
  const auto take = [&free](std::int64_t bytes) {
    std::byte* const taken = free;
    free += (bytes + kAlign - 1) / kAlign * kAlign;
    return taken;
  };
  const Dtype operand = operand_of(problem.elements);
  const std::int64_t element = bytes_of(operand);
  std::vector<run::Operands> sets;
  for (std::int64_t i = 0; i < set_count(sizes, stopwatch); ++i) {
    std::byte* const a = take(sizes.a_bytes);
    std::byte* const b = take(sizes.b_bytes);
    const auto seed = static_cast<std::uint64_t>(16 * bench.process().rank() + 2 * i);
    OVT_CHECK(
        kernels::fill_normal(stopwatch.world.stream(), a, operand, sizes.a_bytes / element, seed));
    OVT_CHECK(kernels::fill_normal(stopwatch.world.stream(), b, operand, sizes.b_bytes / element,
                                   seed + 1));
    sets.push_back({.a = a, .b = b, .c = take(sizes.c_bytes)});
  }
  for (run::Operands& set : sets) set.workspace = free;
  return sets;
}

/// A plan captured once for each operand set, with the world's memory for what is exchanged.
class Replays {
 public:
  Replays(Bench& bench, const Problem& problem, const Config& config, cudaStream_t stream,
          const std::vector<run::Operands>& sets)
      : plan_(bench, problem, config) {
    check(plan_.status());
    const ovt_buffers buffers = plan_.buffers();
    for (const run::Operands& set : sets) {
      const run::Graph graph = run::captured(stream, [&](cudaStream_t to) {
        plan_.run(buffers.a != nullptr ? buffers.a : set.a, set.b,
                  buffers.c != nullptr ? buffers.c : set.c, to);
      });
      graphs_.push_back(run::instantiated(graph));
      OVT_CHECK(cudaGraphUpload(graphs_.back().get(), stream));
    }
  }

  void operator()(cudaStream_t stream, int turn) const {
    const auto set = static_cast<std::size_t>(turn) % graphs_.size();
    OVT_CHECK(cudaGraphLaunch(graphs_[set].get(), stream));
  }

 private:
  MadePlan plan_;  // outlives its graphs
  std::vector<run::GraphExec> graphs_{};
};

/// Medians in microseconds, of the slowest rank in each repetition.
struct Medians {
  double sequential = 0;
  double winner = 0;
  double clock_mhz = 0;  ///< during the winner; 0: not known
};

Medians medians(Bench& bench, Stopwatch& stopwatch, void* memory, const Problem& problem,
                const Config& winner) {
  const cudaStream_t stream = stopwatch.world.stream();
  const std::vector<run::Operands> sets =
      operand_sets(bench, stopwatch, memory, problem, sizes_of(problem, winner));
  const Replays first(bench, problem, Config{}, stream, sets);
  const Replays second(bench, problem, winner, stream, sets);
  const auto alone =
      value_or_throw(cuda::Alone::make(stopwatch.world, stopwatch.library, problem, sets));
  const std::vector<cuda::Task> tasks{
      [&](cudaStream_t to, int turn) { first(to, turn); },
      [&](cudaStream_t to, int turn) { second(to, turn); },
      [&](cudaStream_t to, int turn) { alone.gemm(to, turn); },
      [&](cudaStream_t to, int turn) { alone.collective(to, turn); }};
  stopwatch.timer.sustain(tasks, kSettling);
  const auto timed = stopwatch.timer.spread_rounds(tasks, kRepetitions, kPause);
  const auto median = [&](const cuda::Timed& each) {
    std::vector<double> times;
    for (const Microseconds time : each.times) times.push_back(time.count());
    return quantile(bench.largest(times), 0.5);
  };
  const Medians found{median(timed[0]), median(timed[1]), timed[1].sm_clock_mhz.value_or(0)};
  bench.finish();
  return found;
}

std::vector<Problem> stored_problems(const std::filesystem::path& file, const Platform& platform) {
  const Store store(file, Access::read);
  std::vector<Problem> problems;
  for (const StoredPlatform& stored : store.platforms()) {
    if (stored.platform != platform) continue;
    store.each_winner(stored.id, [&](const StoredWinner& each) {
      const Candidate& winner = each.winner.candidate;
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

void time_winner(Bench& bench, Stopwatch& stopwatch, void* memory, const Asked& asked,
                 Results& results) {
  const Medians seen = medians(bench, stopwatch, memory, asked.problem, asked.config);
  results.row(to_string(asked.problem), true,
              fmt::format("{:<9} {:>9.1f} {:>9.1f} {:>6.3f}   {:>8.3f} {:>8.3f} {:>9.1f} {:>5.0f}",
                          to_string(strategy_of(asked.config)), asked.answer.measured_us,
                          seen.winner, seen.winner / asked.answer.measured_us,
                          asked.answer.baseline_us / asked.answer.measured_us,
                          seen.sequential / seen.winner, seen.sequential, seen.clock_mhz));
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
  Stopwatch stopwatch(bench.comm());
  std::vector<Asked> list;
  std::int64_t shared = 0;
  std::int64_t operands = 0;
  for (const Problem& problem : problems) {
    const ovt_answer answer = database.query(problem_of(problem));
    if (answer.source != OVT_EXACT) {
      results.row(to_string(problem), false, answer.reason);
      continue;
    }
    list.push_back({problem, answer, c::config_of(answer.config)});
    const ovt_sizes sizes = sizes_of(problem, list.back().config);
    shared = std::max({shared, sizes.shared_bytes, sizes_of(problem, Config{}).shared_bytes});
    operands = std::max(operands, operand_bytes(problem, sizes, stopwatch));
  }
  if (list.empty()) return;
  check(ovt_world_reserve(bench.world(), shared));
  const run::DeviceMemory memory = run::device_memory(static_cast<std::size_t>(operands));
  results.print(fmt::format("{:<52} {:<7} {:<9} {:>9} {:>9} {:>6}   {:>8} {:>8} {:>9} {:>5}",
                            "winner", "", "strategy", "stored us", "us", "ratio", "speedup*",
                            "speedup", "seq. us", "MHz"));
  for (const Asked& asked : list) time_winner(bench, stopwatch, memory.get(), asked, results);
  results.print("speedup: over sequential, in the same rounds; *: stored");
}

}  // namespace overlaptune::plan_check
