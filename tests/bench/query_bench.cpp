// The C interface at the speed that other code sees.

#include <algorithm>
#include <chrono>
#include <random>
#include <sys/resource.h>

#include <benchmark/benchmark.h>

#include "db/impl.hpp"
#include "fitted.hpp"
#include "held_out.hpp"
#include "model/search.hpp"
#include "tests/query/stored.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

using Clock = std::chrono::steady_clock;
constexpr int kWinners = 10'000;
constexpr const char* kSimulated = "h200-nvlink-x8";

/// 10,000 winners of a real platform, and a simulated one that was probed.
const std::filesystem::path& sample() {
  static const TemporaryFolder folder;
  static const std::filesystem::path file = [] {
    auto made = folder / "sample.db";
    Store store(made, Access::create);
    const auto simulated = fit_simulated(kSimulated, 8);
    const auto probing =
        store.begin_probe_run(store.add_platform(simulated.machine->platform()), {});
    const auto platform = store.add_platform(stored::platform("real"));
    const auto run = store.begin_tuning_run(platform, "bench", {});
    store.impl().connection->write([&] {
      for (const Measurement& measurement : simulated.measurements) {
        store.impl().insert_measurement(probing, measurement, db::Conflict::replace);
      }
      for (int i = 0; i < kWinners; ++i) {
        store.impl().insert_winner({platform, run, db::utc_now(), stored::winner(i)},
                                   db::Conflict::keep);
      }
    });
    return made;
  }();
  return file;
}

std::vector<ovt_problem> random_problems(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<ovt_problem> problems(1 << 16);
  for (auto& problem : problems) {
    problem = stored::problem(static_cast<std::int64_t>(random() % kWinners) + 1);
  }
  return problems;
}

ovt::Database& shared_database() {
  static ovt::Database database({sample()});
  return database;
}

/// Reports the mean, percentiles of batches of ten (reading the clock takes as long as a hit), and
/// the p99 of single calls, less the time of reading the clock.
void exact_hit(benchmark::State& state) {
  const ovt_database* database = shared_database().handle();
  const auto problems = random_problems(static_cast<std::uint64_t>(state.thread_index()) + 1);
  ovt_answer answer;
  answer.size = sizeof answer;
  std::size_t next = 0;
  const auto ask = [&] {
    const auto& problem = problems[next++ % problems.size()];
    if (ovt_query(database, &problem, OVT_GRAPH, &answer) != OVT_OK || answer.source != OVT_EXACT) {
      state.SkipWithError("not an exact answer");
    }
    benchmark::DoNotOptimize(answer);
  };
  for (auto _ : state) ask();

  constexpr int kSamples = 100'000;
  const auto percentile = [](std::vector<double>& times, double part) {
    const auto at = times.begin() + static_cast<std::ptrdiff_t>(part * double(times.size() - 1));
    std::nth_element(times.begin(), at, times.end());
    return *at;
  };
  std::vector<double> clock;
  std::vector<double> single;
  for (int i = 0; i < kSamples; ++i) {
    const auto start = Clock::now();
    const auto between = Clock::now();
    ask();
    const auto end = Clock::now();
    clock.push_back(std::chrono::duration<double, std::nano>(between - start).count());
    single.push_back(std::chrono::duration<double, std::nano>(end - between).count());
  }
  const double reading = percentile(clock, 0.5);
  using benchmark::Counter;
  state.counters["p50_ns"] = Counter(percentile(single, 0.5) - reading, Counter::kAvgThreads);
  state.counters["p99_ns"] = Counter(percentile(single, 0.99) - reading, Counter::kAvgThreads);
}
BENCHMARK(exact_hit)->Threads(1)->Threads(2)->Threads(8)->UseRealTime();

/// Each problem is new: the search itself, and what is learned from candidates, if there are any.
void predict_uncached(benchmark::State& state, const std::filesystem::path& file) {
  const ovt_platform platform = ovt::stored_platform(kSimulated);
  const ovt::Database database({file}, &platform);
  const auto problems = held_out_problems(20'000, 8, 42);
  (void)database.query(stored::problem(8));  // fits the model
  std::vector<double> times;
  std::size_t next = 0;
  for (auto _ : state) {
    const Problem& p = problems[next++ % problems.size()];
    const auto start = Clock::now();
    const auto answer = database.query(ovt::problem(static_cast<ovt_op>(p.op), p.m, p.n, p.k,
                                                    static_cast<ovt_dtype>(p.elements), p.ranks));
    times.push_back(std::chrono::duration<double, std::micro>(Clock::now() - start).count());
    if (answer.source != OVT_PREDICTED) state.SkipWithError(answer.reason);
  }
  std::sort(times.begin(), times.end());
  state.counters["p50_us"] = times[times.size() / 2];
  state.counters["p99_us"] = times[times.size() * 99 / 100];
}
void predicted_uncached(benchmark::State& state) {
  predict_uncached(state, sample());
}
BENCHMARK(predicted_uncached)->Unit(benchmark::kMicrosecond);

/// The simulated platform, probed and tuned: 2,000 candidates of 200 problems.
const std::filesystem::path& tuned_sample() {
  static const TemporaryFolder folder;
  static const std::filesystem::path file = [] {
    auto made = folder / "tuned.db";
    Store store(made, Access::create);
    const auto simulated = fit_simulated(kSimulated, 8);
    const auto platform = store.add_platform(simulated.machine->platform());
    const auto probing = store.begin_probe_run(platform, {});
    const auto run = store.begin_tuning_run(platform, "bench", {});
    store.impl().connection->write([&] {
      for (const Measurement& measurement : simulated.measurements) {
        store.impl().insert_measurement(probing, measurement, db::Conflict::replace);
      }
      for (const Problem& problem : held_out_problems(200, 8, 7)) {
        const auto scored = value_or_throw(
            search(simulated.model, problem, Launch::graph, {.space = Space::subset, .best = 10}));
        for (const Scored& each : scored) {
          const Summary time{1.05 * each.time, each.time, 1.1 * each.time, 9};
          store.impl().insert_candidate(
              run,
              {.problem = problem, .config = each.config, .predicted = each.time, .measured = time},
              db::Conflict::replace);
        }
      }
    });
    return made;
  }();
  return file;
}

void predicted_from_candidates(benchmark::State& state) {
  predict_uncached(state, tuned_sample());
}
BENCHMARK(predicted_from_candidates)->Unit(benchmark::kMicrosecond);

/// Opens the database of 2,000 candidates, fits and teaches the model, and answers once.
void open_and_first_prediction(benchmark::State& state) {
  const auto& file = tuned_sample();
  const ovt_platform platform = ovt::stored_platform(kSimulated);
  for (auto _ : state) {
    const ovt::Database database({file}, &platform);
    if (database.query(stored::problem(8)).source != OVT_PREDICTED) {
      state.SkipWithError("not predicted");
    }
  }
}
BENCHMARK(open_and_first_prediction)->Unit(benchmark::kMillisecond);

void open_and_first_query(benchmark::State& state) {
  const auto& file = sample();
  for (auto _ : state) {
    const ovt::Database database({file});
    if (database.query(stored::problem(77)).source != OVT_EXACT) state.SkipWithError("not exact");
  }
}
BENCHMARK(open_and_first_query)->Unit(benchmark::kMillisecond);

/// The number of times that this thread gave up its core, to wait for a lock or a file. It does not
/// include the times when the core was taken away for another thread.
long waits() {
  rusage used{};
  getrusage(RUSAGE_THREAD, &used);
  return used.ru_nvcsw;
}

/// Thread 0 reloads, eight threads query. A query that takes more than 1 ms is a stall if it
/// waited; otherwise it lost its core, as happens where there are fewer cores than threads.
void reload_while_8_query(benchmark::State& state) {
  ovt::Database& database = shared_database();
  const auto problems = random_problems(static_cast<std::uint64_t>(state.thread_index()) + 1);
  int slow = 0;
  int stalls = 0;
  std::size_t next = 0;
  for (auto _ : state) {
    if (state.thread_index() == 0) {
      database.reload();
      continue;
    }
    for (int i = 0; i < 1000; ++i) {
      const long waits_before = waits();
      const auto start = Clock::now();
      const auto answer = database.query(problems[next++ % problems.size()]);
      const bool is_slow = Clock::now() - start > std::chrono::milliseconds(1);
      if (answer.source != OVT_EXACT) state.SkipWithError("not an exact answer");
      slow += is_slow ? 1 : 0;
      stalls += is_slow && waits() != waits_before ? 1 : 0;
    }
  }
  state.counters["over_1_ms"] = slow;
  state.counters["stalls"] = stalls;
}
BENCHMARK(reload_while_8_query)
    ->Threads(9)
    ->Iterations(200)
    ->UseRealTime()
    ->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace overlaptune
