#include "tests/gpu/plan_check/ends.hpp"

#include <chrono>
#include <thread>
#include <utility>

#include "core/base/error.hpp"
#include "kernels/support.hpp"
#include "tests/gpu/plan_check/every_config.hpp"

namespace overlaptune::plan_check {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t kMebibyte = std::int64_t{1} << 20;

/// A status with its text.
struct Said {
  ovt_status status = OVT_OK;
  std::string text{};

  // The text is that of the call that was made last.
  // NOLINTNEXTLINE(google-explicit-constructor)
  Said(ovt_status of) : status(of), text(of == OVT_OK ? "" : ovt_run_last_error()) {}
  [[nodiscard]] bool is(ovt_status expected, const std::string& words = "") const {
    return status == expected && text.find(words) != text.npos;
  }
};

/// A world of its own, and a `sequential` plan with operands.
class OtherWorld {
 public:
  explicit OtherWorld(Bench& bench, std::int32_t time_limit_ms = 0) {
    const ovt_world_options options{.size = sizeof options, .time_limit_ms = time_limit_ms};
    check(ovt_world_create(bench.comm(), &options, &world_));
  }
  ~OtherWorld() {
    ovt_plan_destroy(plan_);
    static_cast<void>(ovt_world_destroy(world_));
  }
  OtherWorld(const OtherWorld&) = delete;
  OtherWorld& operator=(const OtherWorld&) = delete;

  void make_plan(const Problem& of) {
    const ovt_problem asked = problem_of(of);
    const ovt_sizes sizes = sizes_of(of, Config{});
    check(ovt_world_reserve(world_, sizes.shared_bytes));
    check(ovt_plan_create(world_, &asked, "sequential", &plan_));
    a_ = run::device_memory(static_cast<std::size_t>(sizes.a_bytes));
    b_ = run::device_memory(static_cast<std::size_t>(sizes.b_bytes));
    c_ = run::device_memory(static_cast<std::size_t>(sizes.c_bytes));
    for (const auto& [memory, bytes] :
         {std::pair{&a_, sizes.a_bytes}, std::pair{&b_, sizes.b_bytes}}) {
      OVT_CHECK(cudaMemset(memory->get(), 0, static_cast<std::size_t>(bytes)));
    }
  }
  [[nodiscard]] Said run(cudaStream_t stream) const {
    return ovt_plan_run(plan_, a_.get(), b_.get(), c_.get(), stream);
  }
  [[nodiscard]] ovt_world* get() const { return world_; }
  [[nodiscard]] Said check_alive() const { return ovt_world_check(world_); }
  /// Forgets the world where it is gone.
  Said destroy() {
    Said said = ovt_world_destroy(world_);
    if (said.status != OVT_ERROR_ARGUMENT) world_ = nullptr;
    return said;
  }

 private:
  ovt_world* world_ = nullptr;
  ovt_plan* plan_ = nullptr;
  run::DeviceMemory a_{};
  run::DeviceMemory b_{};
  run::DeviceMemory c_{};
};

/// A row that is right where it is on every rank.
void row(Bench& bench, Results& results, const char* name, bool here, const std::string& found) {
  results.row(name, bench.largest(here ? 0 : 1) == 0, found);
}

/// A world cannot be destroyed while graphs hold its plans, and is as it was then.
void check_graphs(Bench& bench, const Problem& of, Results& results) {
  constexpr int kGraphs = 70;
  OtherWorld other(bench);
  other.make_plan(of);
  {
    std::vector<run::GraphExec> held;
    for (int i = 0; i < kGraphs; ++i) {
      held.push_back(run::instantiated(
          run::captured(bench.stream(), [&](cudaStream_t to) { check(other.run(to).status); })));
    }
    const Said refused = other.destroy();
    row(bench, results, "a world whose plans 70 graphs hold",
        refused.is(OVT_ERROR_ARGUMENT, "70 captures on rank 0"), refused.text);
    OVT_CHECK(cudaGraphLaunch(held.back().get(), bench.stream()));
    const Said again = other.run(bench.stream());
    bench.finish();
    row(bench, results, "its plan, in a graph and eager", again.is(OVT_OK), again.text);
  }
  const Said gone = other.destroy();
  row(bench, results, "the world once the graphs are destroyed", gone.is(OVT_OK), gone.text);
  const Said late = other.run(bench.stream());
  row(bench, results, "a plan of a world that is destroyed",
      late.is(OVT_ERROR_UNAVAILABLE, "destroyed"), late.text);
}

/// All ranks but the first wait for the first one, which does not come.
void check_abort(Bench& bench, Results& results) {
  OtherWorld other(bench);
  const bool waits = bench.process().rank() > 0;
  std::thread watchdog([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    static_cast<void>(ovt_world_abort(other.get()));
  });
  const auto start = Clock::now();
  Said ended = OVT_OK;
  if (waits) ended = ovt_world_reserve(other.get(), kMebibyte);
  watchdog.join();
  const bool soon = Clock::now() - start < std::chrono::seconds(30);
  const bool right = !waits || ended.is(OVT_ERROR_UNAVAILABLE, "ovt_world_abort");
  row(bench, results, "a wait that another thread aborts", soon && right, ended.text);
  const Said after = other.check_alive();
  row(bench, results, "ovt_world_check after it",
      after.is(OVT_ERROR_UNAVAILABLE, "ovt_world_abort"), after.text);
  const Said gone = other.destroy();
  row(bench, results, "the end of an aborted world", gone.is(OVT_OK), gone.text);
}

/// All ranks but the first wait for the first one until the limit. The first one hears of it.
void check_limit(Bench& bench, Results& results) {
  constexpr std::int32_t kLimitMs = 3000;
  constexpr std::chrono::seconds kSoon{60};
  OtherWorld other(bench, kLimitMs);
  const bool waits = bench.process().rank() > 0;
  const auto start = Clock::now();
  Said ended = OVT_OK;
  if (waits) ended = ovt_world_reserve(other.get(), kMebibyte);
  const bool in_time = Clock::now() - start < kSoon;
  const bool right = !waits || ended.is(OVT_ERROR_UNAVAILABLE, "not ended after 3 s");
  row(bench, results, "a rank that does not come within 3 s", in_time && right, ended.text);
  Said after = other.check_alive();
  const auto heard_by = Clock::now() + std::chrono::seconds(2);
  while (after.status == OVT_OK && Clock::now() < heard_by) {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    after = other.check_alive();
  }
  const std::string text = waits ? ended.text : "has ended this world: ";
  row(bench, results, "ovt_world_check has the same text, and on the other rank soon",
      after.is(OVT_ERROR_UNAVAILABLE, text) &&
          after.is(OVT_ERROR_UNAVAILABLE, "not ended after 3 s"),
      after.text);
  const Said gone = other.destroy();
  row(bench, results, "the end of a world that a rank did not come to", gone.is(OVT_OK), gone.text);
}

/// Each rank comes to a family with other rows. All find it out, at once.
void check_other_rows(Bench& bench, const Problem& of, Results& results) {
  OtherWorld other(bench);
  const ovt_problem most = problem_of(of);
  std::string recipe(OVT_CONFIG_SIZE, '\0');
  ovt_sizes sizes{.size = sizeof sizes};
  check(ovt_recipe_of(&most, "sequential transport=peer_access ctas=16", most.m, recipe.data(),
                      recipe.size(), nullptr));
  check(ovt_recipe_sizes(recipe.c_str(), most.m, &sizes));
  ovt_family* family = nullptr;
  Said said = ovt_world_reserve(other.get(), sizes.shared_bytes);
  if (said.is(OVT_OK)) said = ovt_family_create(other.get(), recipe.c_str(), most.m, &family);
  if (said.is(OVT_OK)) {
    const auto memory = [](std::int64_t bytes) {
      return run::device_memory(static_cast<std::size_t>(bytes));
    };
    const run::DeviceMemory a = memory(sizes.a_bytes);
    const run::DeviceMemory b = memory(sizes.b_bytes);
    const run::DeviceMemory c = memory(sizes.c_bytes);
    const std::int64_t rows = most.m - 8 * bench.process().rank();
    check(ovt_family_run(family, rows, a.get(), b.get(), c.get(), bench.stream()));
    bench.finish();
    said = other.check_alive();
    row(bench, results, "ranks that come with other rows",
        said.is(OVT_ERROR_UNAVAILABLE, "with other rows"), said.text);
  } else {
    results.skip("ranks that come with other rows", said.text);
  }
  ovt_family_destroy(family);
  const Said gone = other.destroy();
  row(bench, results, "the end of a world whose ranks differed", gone.is(OVT_OK), gone.text);
}

void check_options(Bench& bench, Results& results) {
  const bool first = bench.process().rank() == 0;
  const ovt_world_options options{.size = sizeof options, .free_sms = first ? 1 : 0};
  ovt_world* world = nullptr;
  const Said refused = ovt_world_create(bench.comm(), &options, &world);
  row(bench, results, "other options on one rank", refused.is(OVT_ERROR_ARGUMENT, "free_sms"),
      refused.text);
}

/// One rank has too little memory for a plan. All get the error, and the next run is right.
void check_memory(Bench& bench, const Problem& of, Results& results) {
  OtherWorld other(bench);
  other.make_plan(of);
  std::vector<run::DeviceMemory> all;
  if (bench.process().rank() == 0) {
    for (std::int64_t bytes = 1024 * kMebibyte; bytes >= 32 * kMebibyte;) {
      try {
        all.push_back(run::device_memory(static_cast<std::size_t>(bytes)));
      } catch (const Failure&) {
        bytes /= 2;
      }
    }
  }
  Problem large = of;
  large.m = large.n = large.k = 8192;
  const ovt_problem asked = problem_of(large);
  ovt_plan* none = nullptr;
  bench.finish();
  const Said refused = ovt_plan_create(other.get(), &asked, "sequential", &none);
  row(bench, results, "a plan for which a rank has no memory",
      refused.is(OVT_ERROR_MEMORY, "memory"), refused.text);
  const Said next = other.run(bench.stream());
  bench.finish();
  row(bench, results, "the next run of another plan", next.is(OVT_OK), next.text);
  all.clear();
  ovt_plan_destroy(none);
}

/// Eager runs on two streams: the second one comes after the first.
void check_two_streams(Bench& bench, const Problem& of, Results& results) {
  OtherWorld other(bench);
  other.make_plan(of);
  const run::Stream second = run::make_stream();
  const run::Event end = run::make_event(false);
  OVT_CHECK(kernels::spin(bench.stream(), 200'000'000));
  const Said one = other.run(bench.stream());
  OVT_CHECK(cudaEventRecord(end.get(), bench.stream()));
  const Said two = other.run(second.get());
  OVT_CHECK(cudaStreamSynchronize(second.get()));
  const bool in_order = cudaEventQuery(end.get()) == cudaSuccess;
  static_cast<void>(cudaGetLastError());
  bench.finish();
  row(bench, results, "runs on two streams, one after the other",
      one.is(OVT_OK) && two.is(OVT_OK) && in_order, one.text + two.text);
}

}  // namespace

void check_ends(Bench& bench, Results& results) {
  const Problem of = small_problem(Op::gemm_all_reduce, bench.process().ranks());
  check_options(bench, results);
  check_two_streams(bench, of, results);
  check_memory(bench, of, results);
  check_graphs(bench, of, results);
  check_abort(bench, results);
  check_limit(bench, results);
  check_other_rows(bench, of, results);
}

}  // namespace overlaptune::plan_check
