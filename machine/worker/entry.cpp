#include "machine/worker/entry.hpp"

#include <thread>

#include "core/base/index.hpp"
#include "run/deployed.hpp"
#include "run/waits/patience.hpp"

namespace overlaptune::cuda {
namespace {

bool ends_within(cudaStream_t stream, Seconds limit) {
  constexpr Seconds kSoon{0.01};
  const auto start = std::chrono::steady_clock::now();
  while (!run::has_ended(stream)) {
    static_cast<void>(cudaGetLastError());  // not an error, but CUDA may keep it as one
    const Seconds past = std::chrono::steady_clock::now() - start;
    if (past > limit) return false;
    if (past > kSoon) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
  return true;
}

}  // namespace

Entry::Entry(Workbench& bench, TestProblem& problem, std::unique_ptr<run::Plan> plan, Launch launch,
             bool through_world, Seconds patience, const Fault& fault)
    : bench_(bench),
      problem_(problem),
      plan_(std::move(plan)),
      launch_(launch),
      through_world_(through_world),
      patience_(patience),
      fault_(fault) {
  make_ready();
}

void Entry::make_ready() {
  if (is_eager(launch_)) return;
  replay_.emplace(bench_.world, sets(),
                  [this](cudaStream_t stream, int set) { submit(stream, set); });
}

void Entry::operator()(cudaStream_t stream, int turn) {
  if (replay_) {
    (*replay_)(stream, turn);
  } else {
    submit(stream, turn % sets());
  }
}

void Entry::submit(cudaStream_t stream, int set) {
  const run::Operands& in_world = problem_.operands()[index(set)];
  // A plan that places C needs it in the world's memory, which all ranks reach.
  const run::Operands& given = plan_->places_c() ? in_world : problem_.given()[index(set)];
  run::enqueue_moving(stream, *plan_, through_world_ ? in_world : given, given,
                      problem_.exchanged_bytes());
}

void Entry::meet() {
  constexpr std::int64_t kHeadStart = 300'000;  // ns
  // The GPU waits until the host is ahead, so that the runs follow one another at once.
  OVT_CHECK(kernels::spin(bench_.world.stream(), kHeadStart));
  bench_.world.barrier(bench_.world.stream());
}

void Entry::delay_last_rank(std::chrono::nanoseconds pause) {
  const bool last = bench_.world.rank() + 1 == problem_.problem().ranks;
  if (last) OVT_CHECK(kernels::spin(bench_.world.stream(), pause.count()));
}

void Entry::run(int set) {
  ++under_way_;
  if (fault_.kind == Fault::Kind::wrong_replays && under_way_ == 2) return;
  (*this)(bench_.world.stream(), set);
}

bool Entry::ends() {
  under_way_ = 0;
  bool late = false;
  while (!ends_within(bench_.world.stream(), patience_)) {
    late = true;
    bench_.world.waits().abort();
    plan_->release(bench_.aside.get());
    OVT_CHECK(cudaStreamSynchronize(bench_.aside.get()));
  }
  const bool in_time = bench_.world.largest(late ? 1 : 0) == 0;
  if (!in_time) bench_.world.revive();
  return in_time;
}

}  // namespace overlaptune::cuda
