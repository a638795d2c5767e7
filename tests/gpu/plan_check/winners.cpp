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

struct Operands {
  run::DeviceMemory a, b, c;
};

std::vector<Operands> operand_sets(Bench& bench, const Problem& problem, const ovt_sizes& sizes) {
  const std::int64_t each = sizes.a_bytes + sizes.b_bytes + sizes.c_bytes;
  const auto count = std::clamp<std::int64_t>((kCold + each - 1) / each, 2, 8);
  std::vector<Operands> sets;
  for (std::int64_t i = 0; i < count; ++i) {
    Operands set{run::device_memory(static_cast<std::size_t>(sizes.a_bytes)),
                 run::device_memory(static_cast<std::size_t>(sizes.b_bytes)),
                 run::device_memory(static_cast<std::size_t>(sizes.c_bytes))};
    const auto seed = static_cast<std::uint64_t>(16 * bench.seat().rank() + 2 * i);
    kernels::fill_normal(bench.stream(), set.a.get(), problem.dtype, sizes.a_bytes / kElementBytes,
                         seed);
    kernels::fill_normal(bench.stream(), set.b.get(), problem.dtype, sizes.b_bytes / kElementBytes,
                         seed + 1);
    sets.push_back(std::move(set));
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
        plan_.run(buffers.a != nullptr ? buffers.a : set.a.get(), set.b.get(),
                  buffers.c != nullptr ? buffers.c : set.c.get(), stream);
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

/// One after the other; of each repetition the slowest rank, in microseconds.
std::array<std::vector<double>, 2> rounds(Bench& bench, const Plans& plans, int repetitions) {
  const cudaStream_t stream = bench.stream();
  std::array<std::vector<double>, 2> times;
  const run::Event start = run::make_event(true);
  const run::Event end = run::make_event(true);
  for (int turn = 0; turn < repetitions; ++turn) {
    for (std::size_t i = 0; i < plans.size(); ++i) {
      kernels::spin(stream, kHeadStart);
      bench.barrier();
      OVT_CHECK(cudaEventRecord(start.get(), stream));
      plans[i]->launch(stream, turn);
      OVT_CHECK(cudaEventRecord(end.get(), stream));
      bench.finish();
      float ms = 0;
      OVT_CHECK(cudaEventElapsedTime(&ms, start.get(), end.get()));
      times[i].push_back(1e3 * static_cast<double>(ms));
    }
  }
  for (auto& each : times) each = bench.largest(each);
  return times;
}

struct Medians {
  double winner = 0;
  double sequential = 0;
};

Medians medians(Bench& bench, const Problem& problem, const Config& winner) {
  const std::vector<Operands> sets = operand_sets(bench, problem, sizes_of(problem, winner));
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
    store.each_brief_winner(stored.id, [&](BriefWinner&& winner) {
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

void time_winner(Bench& bench, const Asked& asked, Results& results) {
  const Medians seen = medians(bench, asked.problem, asked.config);
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
  for (const Problem& problem : problems) {
    const ovt_answer answer = database.query(problem_of(problem));
    if (answer.source != OVT_EXACT) {
      results.row(to_string(problem), false, answer.reason);
      continue;
    }
    list.push_back({problem, answer, c::config_of(&answer)});
    shared = std::max({shared, sizes_of(problem, list.back().config).shared_bytes,
                       sizes_of(problem, Config{}).shared_bytes});
  }
  check(ovt_world_reserve(bench.world(), shared));
  results.print(fmt::format("{:<52} {:<7} {:<9} {:>9} {:>9} {:>6}   {:>9} {:>9} {:>6}", "winner",
                            "", "strategy", "stored us", "us", "ratio", "speedup*", "speedup",
                            "sequential us"));
  for (const Asked& asked : list) time_winner(bench, asked, results);
  results.print("speedup: over sequential, in the same rounds; *: stored");
}

}  // namespace overlaptune::plan_check
