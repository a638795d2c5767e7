#include "tests/machine/controller/fixtures.hpp"

#include <cstdlib>

namespace overlaptune::cuda {

Variable::Variable(const char* name, const std::string& value) : name_(name) {
  setenv(name, value.c_str(), 1);
}

Variable::~Variable() {
  unsetenv(name_.c_str());
}

Limits short_limits() {
  using namespace std::chrono_literals;
  return {.meet = 20s, .start = 20s, .join = 20s, .unknown = 20s, .prepare = 20s, .time = 20s};
}

std::string fake_worker() {
  return OVERLAPTUNE_FAKE_WORKER;
}

CudaOptions fake_options(int ranks) {
  return {.worker = fake_worker(), .ranks = ranks, .limits = short_limits()};
}

std::unique_ptr<WorkerPool> fake_pool(int ranks, const PoolOptions& options) {
  Rendezvous rendezvous(value_or_throw(Listener::open()));
  std::vector<std::unique_ptr<WorkerSlot>> slots;
  slots.reserve(static_cast<std::size_t>(ranks));
  for (int rank = 0; rank < ranks; ++rank) {
    slots.push_back(std::make_unique<LocalSlot>(WorkerCall{.program = fake_worker(),
                                                           .host = "127.0.0.1",
                                                           .port = rendezvous.port(),
                                                           .rank = rank,
                                                           .local_rank = rank}));
  }
  return std::make_unique<WorkerPool>(std::move(rendezvous), std::move(slots), options);
}

}  // namespace overlaptune::cuda
