#include "machine/worker/entry.hpp"

#include <thread>

#include "run/deployed.hpp"

namespace overlaptune::cuda {
namespace {

using Seconds = std::chrono::duration<double>;

bool ends_within(cudaStream_t stream, Seconds limit) {
  constexpr Seconds kSoon{0.01};
  const auto start = std::chrono::steady_clock::now();
  while (true) {
    const cudaError_t state = cudaStreamQuery(stream);
    if (state != cudaErrorNotReady) {
      OVT_CHECK(state);
      return true;
    }
    static_cast<void>(cudaGetLastError());  // not an error, but CUDA may keep it as one
    const Seconds past = std::chrono::steady_clock::now() - start;
    if (past > limit) return false;
    if (past > kSoon) std::this_thread::sleep_for(std::chrono::microseconds(100));
  }
}

}  // namespace

Entry::Entry(Workbench& bench, const TestProblem& problem, std::unique_ptr<run::Plan> plan,
             Launch launch, bool through_world)
    : bench_(bench),
      problem_(problem),
      plan_(std::move(plan)),
      launch_(launch),
      through_world_(through_world) {
  make_ready();
}

void Entry::make_ready() {
  if (is_eager(launch_)) return;
  replay_.emplace(bench_.world, static_cast<int>(problem_.operands().size()),
                  [this](cudaStream_t stream, int set) { submit(stream, set); });
}

void Entry::operator()(cudaStream_t stream, int turn) {
  const int sets = static_cast<int>(problem_.operands().size());
  if (replay_) {
    (*replay_)(stream, turn);
  } else {
    submit(stream, turn % sets);
  }
}

void Entry::submit(cudaStream_t stream, int set) {
  const run::Operands& in_world = problem_.operands()[static_cast<std::size_t>(set)];
  const run::Operands& given =
      places_c() ? in_world : problem_.given()[static_cast<std::size_t>(set)];
  run::enqueue_moving(stream, *plan_, through_world_ ? in_world : given, given,
                      problem_.exchanged_bytes());
}

bool Entry::ends(Seconds patience) {
  bool late = false;
  while (!ends_within(bench_.world.stream(), patience)) {
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
