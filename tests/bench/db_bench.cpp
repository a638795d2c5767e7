// The database at the speed that other code sees: opening a large one, asking it for a row.

#include <cstdlib>
#include <filesystem>
#include <stdexcept>
#include <string>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include "db/impl.hpp"
#include "tests/temporary_folder.hpp"

namespace overlaptune {
namespace {

constexpr int kWinners = 1000;

/// One row panel with the 2416 tiles of the winners' config.
Problem problem(int index) {
  return {.op = Op::gemm_all_reduce, .m = 128, .n = 2416 * 256, .k = 8 * (index + 1), .ranks = 8};
}

/// A database with that many candidates and `kWinners` winners, made at first use.
class Sample {
 public:
  explicit Sample(int candidates) {
    Store store(file(), Access::create);
    platform_ = store.add_platform({.machine = "sim", .name = "bench"});
    const auto run = store.begin_tuning_run(platform_, "bench", {});
    Winner winner;
    winner.candidate.config = Signaled{.tile = {128, 256, 64, 4, 2},
                                       .swizzle = 8,
                                       .comm_ctas = 16,
                                       .wave_groups = {928, 928, 464, 96}};
    winner.candidate.measured = Summary{us(812.5), us(801.25), us(830.75), 9};
    winner.candidate.speedup = Candidate::Speedup{1.25, 1.22, 1.27};
    winner.sequential = us(1015.6);
    store.impl().connection->write([&] {
      for (int i = 0; i < kWinners; ++i) {
        winner.candidate.problem = problem(i);
        store.impl().insert_candidate(run, winner.candidate, db::Conflict::keep);
        store.impl().insert_winner({platform_, run, db::utc_now(), winner}, db::Conflict::keep);
      }
      // SQLite itself adds the others: the same rows with other numbers of comm CTAs.
      store.impl().connection->execute(fmt::format(
          "INSERT INTO candidates (run_id, problem_id, launch, config, verdict, {0}) WITH "
          "RECURSIVE "
          "copy (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM copy WHERE i < {1}) SELECT run_id, "
          "problem_id, launch, replace(config, 'ctas=16', 'ctas=' || (16 + i)), verdict, {0} FROM "
          "candidates, copy",
          db::kOutcomeColumns, candidates / kWinners - 1));
    });
  }

  [[nodiscard]] std::filesystem::path file() const { return folder_ / "sample.db"; }
  [[nodiscard]] PlatformId platform() const { return platform_; }

 private:
  TemporaryFolder folder_;
  PlatformId platform_ = 0;
};

const Sample& small_sample() {
  static const Sample sample(kWinners * 2);
  return sample;
}

const Sample& large_sample() {
  static const Sample sample(1'000'000);
  return sample;
}

/// An exact row from an open database.
void exact_row(benchmark::State& state, Access access, const Sample& (*sample)()) {
  const Store store(sample().file(), access);
  int index = 0;
  for (auto _ : state) {
    auto found = store.winner(sample().platform(), problem(index), Launch::graph);
    if (!found) state.SkipWithError("no such row");
    benchmark::DoNotOptimize(found);
    index = (index + 1) % kWinners;
  }
}
BENCHMARK_CAPTURE(exact_row, reader, Access::read, small_sample);
BENCHMARK_CAPTURE(exact_row, writer, Access::write, small_sample);
BENCHMARK_CAPTURE(exact_row, reader_of_1000000_rows, Access::read, large_sample);

void open_1000000_rows(benchmark::State& state, Access access) {
  const Sample& sample = large_sample();
  for (auto _ : state) {
    const Store store(sample.file(), access);
    auto found = store.winner(sample.platform(), problem(7), Launch::graph);
    if (!found) state.SkipWithError("no such row");
    benchmark::DoNotOptimize(found);
  }
  state.counters["file_mb"] = static_cast<double>(std::filesystem::file_size(sample.file())) / 1e6;
}
BENCHMARK_CAPTURE(open_1000000_rows, reader, Access::read)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(open_1000000_rows, writer, Access::write)->Unit(benchmark::kMillisecond);

/// Adds one candidate, which is durable when the call returns.
void add_candidate(benchmark::State& state) {
  Store store(small_sample().file(), Access::write);
  const auto run = store.last_tuning_run(small_sample().platform())->id;
  Candidate candidate;
  candidate.problem = problem(0);
  Chunked config{.comm_ctas = 8};
  for (auto _ : state) {
    ++config.chunks;
    candidate.config = config;
    store.add_candidate(run, candidate);
  }
}
BENCHMARK(add_candidate)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace overlaptune
