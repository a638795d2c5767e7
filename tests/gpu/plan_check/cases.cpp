#include "tests/gpu/plan_check/cases.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <memory>
#include <span>

#include "core/base/error.hpp"
#include "core/config/config_fields.hpp"
#include "core/config/tiling.hpp"
#include "core/config/work.hpp"
#include "core/gpu.hpp"
#include "tests/gpu/plan_check/every_config.hpp"
#include "tests/gpu/plan_check/judge.hpp"
#include "tests/gpu/plan_check/shared_gpus.hpp"
#include "tests/gpu/plan_check/test_problem.hpp"

namespace overlaptune::plan_check {
namespace {

constexpr int kReplays = 3;
/// Turns of both operand sets in replays that follow one another at once: 20 replays.
constexpr int kTurns = 10;

/// Numbers of rows that no tile divides; where the ranks share the rows, for all ranks together.
constexpr std::array<std::int64_t, 4> kOddRows{1, 7, 129, 1000};
/// Numbers of rows that no tile divides, where ranks share GPUs and every exchange takes
/// milliseconds.
constexpr std::array<std::int64_t, 2> kFewOddRows{7, 1000};
/// Those of 8-bit operands, whose scales travel four at a time.
constexpr std::array<std::int64_t, 3> kOddScaledRows{4, 132, 1000};
constexpr std::int64_t kOddColumns = 1096;
constexpr std::int64_t kOddDepth = 328;
/// With 8-bit operands, of which a step has twice as many.
constexpr std::int64_t kOddScaledColumns = 1104;
constexpr std::int64_t kOddScaledDepth = 400;

/// Whether the current GPU's kernels do.
bool multiplies_e4m3() {
  cudaDeviceProp properties{};
  int device = 0;
  OVT_CHECK(cudaGetDevice(&device));
  OVT_CHECK(cudaGetDeviceProperties(&properties, device));
  return gpu_limits(10 * properties.major + properties.minor).e4m3;
}

std::vector<Problem> odd_problems(const Placement& placement) {
  const int ranks = placement.ranks();
  std::vector<std::int64_t> row_counts(kOddRows.begin(), kOddRows.end());
  std::vector<Elements> dtypes{Elements::bf16, Elements::fp16};
  if (multiplies_e4m3()) {
    dtypes.push_back(Elements::e4m3_rows_bf16);
    dtypes.push_back(Elements::e4m3_tensor_fp16);
    dtypes.push_back(Elements::e4m3_rows_bf16_exact);
  }
  if (placement.shares_gpus()) {
    row_counts.assign(kFewOddRows.begin(), kFewOddRows.end());
    dtypes = {Elements::bf16};
  }
  std::vector<Problem> list;
  for (const auto& [op, name] : NamesOf<Op>::all) {
    for (const Elements elements : dtypes) {
      const bool scaled = is_scaled(elements);
      for (const std::int64_t rows :
           scaled ? std::span<const std::int64_t>(kOddScaledRows) : std::span(row_counts)) {
        list.push_back({.op = op,
                        .m = op == Op::gemm_all_reduce ? rows : ranks * rows,
                        .n = scaled ? kOddScaledColumns : kOddColumns,
                        .k = scaled ? kOddScaledDepth : kOddDepth,
                        .elements = elements,
                        .ranks = ranks});
      }
    }
  }
  return list;
}

/// Two groups, or one where the order cannot be cut.
std::vector<std::int64_t> two_groups(const Problem& of, const Tile& tile, int swizzle,
                                     Transport transport) {
  const auto cuts = wave_cuts(tile_order(of, tile, swizzle), 4, transport);
  const std::int64_t first = cuts[(cuts.size() - 1) / 2].tiles;
  const std::int64_t rest = cuts.back().tiles - first;
  return rest > 0 ? std::vector<std::int64_t>{first, rest} : std::vector<std::int64_t>{first};
}

/// Tiles of each kind, in two groups where the order can be cut.
std::vector<Config> odd_configs(const Problem& of) {
  // The scales of the last one lie in shared memory.
  constexpr std::array<std::pair<Tile, int>, 5> kTiles{{{{64, 256, 64, 4, 1}, 1},
                                                        {{128, 128, 64, 4, 2}, 2},
                                                        {{192, 96, 64, 4, 1}, 1},
                                                        {{256, 112, 64, 3, 1}, 1},
                                                        {{128, 192, 64, 3, 1}, 1}}};
  std::vector<Config> list{Config{}};
  // Its chunks begin with the scales of any row.
  const Chunked chunked{.comm_ctas = 16, .chunks = 2, .transport = Transport::ring};
  if (is_scaled(of.elements) && Work::make(of, chunked)) list.emplace_back(chunked);
  for (auto [tile, swizzle] : kTiles) {
    tile.block_k = block_k_of(of.elements);
    if (is_exact(of.elements) && !is_feasible(tile, gpu_limits(90), of.elements)) continue;
    list.emplace_back(
        PeerStore{.tile = tile,
                  .swizzle = swizzle,
                  .wave_groups = two_groups(of, tile, swizzle, Transport::peer_access)});
    Waiting waiting{.tile = tile, .swizzle = swizzle};
    waiting.wave_groups.assign(static_cast<std::size_t>(of.ranks),
                               tile_order(of, tile, swizzle).tiles() / of.ranks);
    list.emplace_back(waiting);
    waiting.k_chunks = 3;
    if (Work::make(of, waiting)) list.emplace_back(waiting);
    waiting.comm_ctas = 8;
    waiting.transport = Transport::peer_access;
    if (Work::make(of, waiting)) list.emplace_back(waiting);
    waiting.k_chunks = 1;
    list.emplace_back(waiting);
    waiting.comm_ctas = kTilesPush;
    if (is_scaled(of.elements)) waiting.tile.stages = 3;  // as many as k has whole steps
    for (const int chunks : {1, 3}) {
      waiting.k_chunks = chunks;
      if (Work::make(of, waiting)) list.emplace_back(waiting);
    }
    for (const Transport transport :
         {Transport::ring, Transport::symmetric, Transport::copy_engine, Transport::peer_access}) {
      if (!serves(transport, collective_of(of.op))) continue;
      Signaled config{.tile = tile,
                      .swizzle = swizzle,
                      .comm_ctas = 8,
                      .transport = all_groups_by(transport),
                      .wave_groups = two_groups(of, tile, swizzle, transport)};
      list.push_back(config);
      if (transport == Transport::copy_engine) continue;
      config.wait = Wait::kernel;
      if (is_nccls(transport)) config.comm_ctas = kHandedOver;
      list.push_back(config);
    }
  }
  return those_that_run(std::move(list), of.op);
}

/// The check of one plan.
class Case {
 public:
  Case(Bench& bench, TestProblem& test, const MadePlan& plan)
      : bench_(bench), problem_(test), plan_(plan), buffers_(plan.buffers()) {}

  /// Runs the plan on the caller's own memory, and on the plan's where it has some.
  kernels::Deviation run() {
    const OperandSet& own = problem_.memory().sets[0];
    run_on(own.a.get(), own.c.get());
    if (buffers_.a != nullptr) run_on(buffers_.a, own.c.get());
    if (buffers_.c != nullptr) run_on(own.a.get(), buffers_.c);
    return worst_;
  }

 private:
  /// Runs the plan on the first operand set, with its A in `a` and its result in `c`.
  void run_on(void* a, void* c) {
    const OperandSet& own = problem_.memory().sets[0];
    const OperandSet& other = problem_.memory().sets[1];
    const auto submit = [&](cudaStream_t to) {
      plan_.run(a, own.b.get(), c, to, problem_.scales(0));
    };
    look(a, c, [&] { submit(bench_.stream()); });
    const run::GraphExec replay = captured(submit);
    for (int i = 0; i < kReplays; ++i) {
      look(a, c, [&] { launch(replay); });
    }
    const run::GraphExec of_other = captured([&](cudaStream_t to) {
      plan_.run(other.a.get(), other.b.get(), other.c.get(), to, problem_.scales(1));
    });
    look_at_replays(a, c, replay, of_other);
  }

  template <class Submit>
  [[nodiscard]] run::GraphExec captured(const Submit& submit) const {
    return run::instantiated(run::captured(bench_.stream(), submit));
  }
  void launch(const run::GraphExec& replay) const {
    OVT_CHECK(cudaGraphLaunch(replay.get(), bench_.stream()));
  }

  /// Runs the plan with other inputs first. An element that a launch forgets to write, or reads too
  /// early, is then wrong.
  template <class Once>
  void look(void* a, void* c, const Once& once) {
    const OperandSet& other = problem_.memory().sets[1];
    plan_.run(other.a.get(), other.b.get(), c, bench_.stream(), problem_.scales(1));
    problem_.poison(c);
    restore(a);
    once();
    bench_.finish();
    look_at(0, c);
  }

  /// Replays that follow one another at once, on both sets in turn: once each, so that no later run
  /// repairs what an earlier one did wrong, and then many times. The first set comes last in each
  /// turn, because a run on other memory may leave its A and its result in the plan's.
  void look_at_replays(void* a, void* c, const run::GraphExec& first,
                       const run::GraphExec& second) {
    void* const other_c = problem_.memory().sets[1].c.get();
    for (const int turns : {1, kTurns}) {
      problem_.poison(c);
      problem_.poison(other_c);
      static_cast<void>(bench_.largest(0));  // no rank runs before all have poisoned
      for (int turn = 0; turn < turns; ++turn) {
        launch(second);
        restore(a);
        launch(first);
      }
      bench_.finish();
      look_at(0, c);
      look_at(1, other_c);
    }
  }

  /// Puts A of the first set into the plan's memory, where a run on other memory may have put its
  /// own.
  void restore(void* a) {
    if (a == buffers_.a) problem_.copy_a(a);
  }

  void look_at(std::size_t set, const void* c) {
    worst_ = worse(worst_, problem_.deviation(set, c));
  }

  Bench& bench_;
  TestProblem& problem_;
  const MadePlan& plan_;
  ovt_buffers buffers_;
  kernels::Deviation worst_{};
};

/// Checks a list of configs. The first one, if any, is `sequential`.
void check_op(Bench& bench, const OwnMemory& memory, const Problem& of,
              const std::vector<Config>& list, Results& results) {
  if (list.empty()) return;
  TestProblem test(bench, memory, of);
  Judge judge;
  for (const Config& config : list) {
    if (const std::string why = obstacle(bench.process().placement(), config); !why.empty()) {
      results.skip(name_of(of, config), why);
      continue;
    }
    const MadePlan plan(bench, of, config);
    if (plan.status() != OVT_OK) {
      results.row(name_of(of, config), false, plan.error());
      continue;
    }
    judge.row(name_of(of, config), Case(bench, test, plan).run(), results);
  }
}

/// Plans of the configs that are asked for and can be here, `sequential` first.
struct KeptPlans {
  KeptPlans(Bench& bench, const Problem& of, const Selection& selection) : problem(of) {
    for (const Config& config : selection.of(of, configs(of))) {
      if (!obstacle(bench.process().placement(), config).empty()) continue;
      list.push_back(config);
      plans.push_back(std::make_unique<MadePlan>(bench, of, config));
    }
  }

  /// A row for all plans together.
  void check(Bench& bench, const OwnMemory& memory, const std::string& when,
             Results& results) const {
    TestProblem test(bench, memory, problem);
    Results found{};
    Judge judge;
    for (std::size_t i = 0; i < plans.size(); ++i) {
      const std::string name = name_of(problem, list[i]);
      if (plans[i]->status() != OVT_OK) {
        found.row(name, false, plans[i]->error());
      } else {
        judge.row(name, Case(bench, test, *plans[i]).run(), found);
      }
    }
    results.row(
        fmt::format("{} {}", to_string(problem.op), when), found.failed == 0,
        fmt::format("{} of {} plans right {}", found.passed, plans.size(), found.first_failure));
  }

  Problem problem;
  std::vector<Config> list{};
  std::vector<std::unique_ptr<MadePlan>> plans{};
};

/// Reserves `bytes` while a graph holds `plan`, which must be refused on every rank.
void check_graph_in_the_way(Bench& bench, const OwnMemory& memory, const MadePlan& plan,
                            std::int64_t bytes, Results& results) {
  const OperandSet& own = memory.sets[0];
  const run::Graph graph = run::captured(bench.stream(), [&](cudaStream_t to) {
    plan.run(own.a.get(), own.b.get(), own.c.get(), to);
  });
  const run::GraphExec held = run::instantiated(graph);
  const ovt_status status = ovt_world_reserve(bench.world(), bytes);
  const std::string error = status == OVT_OK ? "it grew" : ovt_run_last_error();
  const bool right = status == OVT_ERROR_ARGUMENT && error.find("CUDA graphs") != error.npos;
  results.row("growth while a graph holds a plan", bench.largest(right ? 0 : 1) == 0, error);
}

void check_too_much(Bench& bench, Results& results) {
  const ovt_status status = ovt_world_reserve(bench.world(), std::int64_t{1} << 50);
  const std::string error = status == OVT_OK ? "it grew" : ovt_run_last_error();
  results.row("growth beyond the GPU's memory",
              bench.largest(status == OVT_ERROR_MEMORY ? 0 : 1) == 0, error);
}

}  // namespace

void check_all_cases(Bench& bench, const Selection& selection, Results& results) {
  std::vector<Problem> problems;
  std::int64_t shared = 0;
  for (const auto& [op, name] : NamesOf<Op>::all) {
    problems.push_back(problem(op, bench.process().ranks()));
    for (const Config& config : configs(problems.back())) {
      shared = std::max(shared, sizes_of(problems.back(), config).shared_bytes);
    }
  }
  check(ovt_world_reserve(bench.world(), shared));
  const OwnMemory memory(problems);
  for (const Problem& each : problems) {
    check_op(bench, memory, each, selection.of(each, configs(each)), results);
  }
}

void check_growth(Bench& bench, const Selection& selection, Results& results) {
  constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;
  std::vector<Problem> problems;
  std::int64_t shared = 0;
  for (const auto& [op, name] : NamesOf<Op>::all) {
    const Problem of = problem(op, bench.process().ranks());
    const std::vector<Config> list = selection.of(of, configs(of));
    if (list.empty()) continue;
    problems.push_back(of);
    for (const Config& config : list) {
      shared = std::max(shared, sizes_of(of, config).shared_bytes);
    }
  }
  if (problems.empty()) return;
  const OwnMemory memory(problems);
  check(ovt_world_reserve(bench.world(), shared));
  std::vector<KeptPlans> all;
  for (const Problem& each : problems) all.emplace_back(bench, each, selection);
  const auto check_plans = [&](const std::string& when) {
    for (const KeptPlans& each : all) each.check(bench, memory, when, results);
  };
  check_plans("before the world grows");
  check_graph_in_the_way(bench, memory, *all.front().plans.front(), shared + kMebibyte, results);
  for (const std::int64_t more : {kMebibyte, 256 * kMebibyte, 1024 * kMebibyte}) {
    check(ovt_world_reserve(bench.world(), shared + more));
    bench.process().step();
    check_plans(fmt::format("in {} MiB more", more / kMebibyte));
  }
  check_too_much(bench, results);
  check_plans("after growth that failed");
}

void check_odd_shapes(Bench& bench, const Selection& selection, Results& results) {
  const std::vector<Problem> problems = odd_problems(bench.process().placement());
  const OwnMemory memory(problems);
  for (const Problem& each : problems) {
    const std::vector<Config> list = selection.of(each, odd_configs(each));
    if (list.empty()) continue;
    Results found{};
    check_op(bench, memory, each, list, found);
    results.skipped += found.skipped;
    results.row(to_string(each), found.failed == 0,
                fmt::format("{} of {} configs right {}", found.passed, found.passed + found.failed,
                            found.first_failure));
  }
}

void check_refusals(Bench& bench, Results& results) {
  const Problem of = problem(Op::gemm_all_reduce, bench.process().ranks());
  const bool first = bench.process().rank() == 0;
  const auto refused = [&](const char* name, ovt_status status, const std::string& error,
                           const char* text) {
    const bool here = status == OVT_ERROR_ARGUMENT && error.find(text) != error.npos;
    results.row(name, bench.largest(here ? 0 : 1) == 0, error);
  };
  const auto refused_plan = [&](const char* name, const Problem& asked, const Config& config,
                                const char* text) {
    const MadePlan plan(bench, asked, config);
    refused(name, plan.status(), plan.error(), text);
  };
  Chunked config{.comm_ctas = 16, .chunks = 4, .transport = Transport::ring};
  config.chunks = first ? 2 : 4;
  refused_plan("ranks that disagree", of, config, "another problem or config");
  config.chunks = first ? 0 : 4;
  refused_plan("one rank's mistake", of, config, first ? "chunks" : "rank 0 refused");
  const Chunked crowded{.comm_ctas = 65, .chunks = 4, .transport = Transport::ring};
  refused_plan("more CTAs than NCCL has", of, crowded, "ctas = 65");
  const Signaled large{.tile = {256, 192, 64, 7, 1},
                       .swizzle = 1,
                       .comm_ctas = 8,
                       .wave_groups = {of.m / 256 * ((of.n + 191) / 192)}};
  refused_plan("a tile that no GPU has room for", of, large, "does not fit this GPU");
  Problem other = of;
  other.ranks += 1;
  refused_plan("other ranks than the world's", other, Config{}, "ovt_problem.ranks");
  other = of;
  other.m *= 1024;
  refused_plan("memory that was not reserved", other, Sequential{.transport = Transport::symmetric},
               "ovt_world_reserve");
  ovt_plan* none = nullptr;
  const ovt_problem asked = problem_of(of);
  const ovt_status nowhere =
      ovt_plan_create(bench.world(), &asked, "sequential", first ? nullptr : &none);
  refused("one rank has no place for its plan", nowhere, ovt_run_last_error(),
          first ? "plan: NULL" : "rank 0 refused");
  const ovt_status less = ovt_world_reserve(bench.world(), first ? -1 : 1);
  refused("one rank reserves less than nothing", less, ovt_run_last_error(),
          first ? "expected 0 or more" : "another rank refused");
  ovt_world_options options{.size = sizeof(ovt_world_options)};
  options.exclusive = first ? 2 : 0;
  ovt_world* another = nullptr;
  const ovt_status declined = ovt_world_create(bench.comm(), &options, &another);
  refused("one rank's mistake in making a world", declined, ovt_run_last_error(),
          first ? "ovt_world_options.exclusive = 2" : "another rank refused");

  const MadePlan plan(bench, of, Config{});
  const run::DeviceMemory memory = run::device_memory(512);
  void* const good = memory.get();
  void* const odd = static_cast<std::byte*>(good) + 8;
  const ovt_status without = ovt_plan_run(plan.get(), good, nullptr, good, bench.stream());
  refused("an operand that is not there", without, ovt_run_last_error(), "b: NULL");
  const ovt_status unaligned = ovt_plan_run(plan.get(), good, good, odd, bench.stream());
  refused("an operand that is not aligned", unaligned, ovt_run_last_error(), "c: expected memory");
}

}  // namespace overlaptune::plan_check
