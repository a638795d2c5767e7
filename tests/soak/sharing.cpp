// Two tunes write one database, and eight processes query it all the while.

#include <array>
#include <atomic>
#include <new>
#include <sys/mman.h>

#include "program.hpp"
#include "sample.hpp"

namespace overlaptune::soak {
namespace {

constexpr int kQueriers = 8;
constexpr const char* kMachine = "rtx4090-pcie-x4";

/// Counts of all queriers, in memory that the processes share.
struct Counts {
  std::atomic<std::int64_t> tried{0};
  std::atomic<std::int64_t> bad{0};
  std::atomic<bool> over{false};
};

/// Opens, asks and closes until it is told to stop. A database without the platform, or without a
/// measurement, is no fault.
void query_until_over(const std::filesystem::path& file, Counts& counts) {
  const std::string path = file.string();
  const char* const paths[] = {path.c_str()};
  const ovt_platform platform = ovt::stored_platform(kMachine);
  while (!counts.over) {
    ovt_database* database = nullptr;
    const ovt_status opened = ovt_open(paths, 1, &platform, &database);
    bool good = opened == OVT_OK || opened == OVT_ERROR_NOT_FOUND;
    if (!good) fmt::print(stderr, "bad: a query beside tunes: {}\n", ovt_last_error());
    for (int i = 0; opened == OVT_OK && i < 4; ++i) {
      const ovt_problem problem =
          ovt::problem(OVT_GEMM_ALL_REDUCE, 256 << i, 2048, 1024, OVT_BF16, 2);
      ovt_answer answer;
      answer.size = sizeof answer;
      good = good && ovt_query(database, &problem, OVT_GRAPH, &answer) == OVT_OK &&
             (answer.source != OVT_EXACT || answer.measured_us > 0);
      ++counts.tried;
    }
    ovt_close(database);
    if (!good) ++counts.bad;
  }
}

}  // namespace

Tally tune_beside_queries(Bench& bench) {
  void* shared =
      mmap(nullptr, sizeof(Counts), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::bad_alloc();
  Counts& counts = *new (shared) Counts;
  const auto file = bench.folder / "f.db";
  { const Store made(file, Access::create); }
  std::array<pid_t, kQueriers> queriers{};
  for (pid_t& querier : queriers) {
    querier = fork();
    if (querier == 0) {
      query_until_over(file, counts);
      _exit(0);
    }
  }
  Tally tally;
  for (int round = 0; round == 0 || bench.has_time(); ++round) {
    std::array<pid_t, 2> tunes{};
    for (std::size_t i = 0; i < tunes.size(); ++i) {
      tunes[i] =
          start(bench.folder,
                fmt::format("tune --db f.db --machine sim:{} --quick-probe --top-k 1 --seed {} "
                            "--problem gemm_all_reduce:{},2048,1024:bf16:2",
                            kMachine, round, 256 << (2 * i + round % 2)));
    }
    for (const pid_t tune : tunes) {
      const int code = wait_for(tune);
      tally.count(code == 0, fmt::format("a tune beside another ended with {}", code));
    }
  }
  counts.over = true;
  for (const pid_t querier : queriers) {
    const int code = wait_for(querier);
    tally.count(code == 0, fmt::format("a querier ended with {}", code));
  }
  const auto findings = Store(file, Access::read).check();
  tally.count(findings.empty(), findings.empty() ? "" : findings.front());
  tally.tried += counts.tried;
  tally.bad += counts.bad;
  munmap(shared, sizeof(Counts));
  return tally;
}

}  // namespace overlaptune::soak
