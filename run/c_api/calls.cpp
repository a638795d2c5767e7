#include "run/c_api/calls.hpp"

#include "core/abi/values.hpp"
#include "run/agreed.hpp"
#include "run/c_api/c_arguments.hpp"
#include "run/streams/device_runs.hpp"

namespace overlaptune::run {

ovt_status status_of(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::bad_input:
      return OVT_ERROR_ARGUMENT;
    case ErrorKind::machine_unavailable:
    case ErrorKind::cannot_write:
      return OVT_ERROR_UNAVAILABLE;
    case ErrorKind::out_of_memory:
      return OVT_ERROR_MEMORY;
    default:
      return OVT_ERROR_INTERNAL;
  }
}

void wait_for_plans(Ranks& ranks) {
  if (ranks.last_run.end() == nullptr) return;
  ranks.world.finish(ranks.last_run.end(), "a plan that was enqueued before");
}

Call::Call(Ranks& ranks) : ranks_(ranks), lock_(ranks.calls), current_(ranks.device) {
  if (auto ended = ranks.world.failure()) throw c::Refusal{OVT_ERROR_UNAVAILABLE, *ended};
}

Call::~Call() {
  if (ranks_.world.failure()) ranks_.abandon();
}

void write(const std::string& whole, char* text, std::size_t capacity, std::size_t needed) {
  if (whole.size() >= capacity) {
    refuse(fmt::format("capacity = {}: expected {}", capacity, needed));
  }
  text[whole.copy(text, capacity - 1)] = '\0';
}

void write(const Problem& problem, std::int64_t shared_bytes, std::int64_t temporary_bytes,
           std::size_t size, ovt_sizes* sizes) {
  sizes->a_bytes = bytes_of_a(problem);
  sizes->b_bytes = bytes_of_b(problem);
  sizes->c_bytes = bytes_of_c(problem);
  sizes->shared_bytes = shared_bytes;
  sizes->temporary_bytes = temporary_bytes;
  c::zero_beyond(size, sizes);
}

void write(DeployedPlan& plan, std::size_t size, ovt_buffers* buffers) {
  plan.find_memory();
  buffers->a = plan.exchanged_a();
  buffers->c = plan.exchanged_c();
  buffers->takes_results = plan.takes_results() ? 1 : 0;
  buffers->unused = 0;
  c::zero_beyond(size, buffers);
}

void run_plan(Ranks& ranks, DeployedPlan& plan, cudaStream_t stream, const Operands& operands) {
  plan.find_memory();
  if (std::string mistake = plan.mistake_in(operands); !mistake.empty()) refuse(std::move(mistake));
  const auto enqueue = [&] { plan.enqueue(stream, operands); };
  const bool is_captured = ranks.graphs.note(stream);
  if (is_captured) hold_in_graph(stream, operands.c);
  const DeviceRuns::Next next(DeviceRuns::of(ranks.device), stream);
  if (is_captured) return enqueue();
  ranks.last_run.begin(stream);
  try {
    enqueue();
  } catch (...) {
    // A part of it may be enqueued.
    static_cast<void>(caught([&]() -> Expected<void> {
      ranks.last_run.note(stream);
      return {};
    }));
    throw;
  }
  ranks.last_run.note(stream);
}

}  // namespace overlaptune::run
