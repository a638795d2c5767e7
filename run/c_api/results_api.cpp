// The C interface of memory for results.

#include "core/abi/values.hpp"
#include "run/c_api/c_arguments.hpp"
#include "run/c_api/calls.hpp"
#include "run/streams/captured_runs.hpp"

using namespace overlaptune;
using c::present;
using c::Refusal;
using run::guarded;
using run::ResultMemory;

namespace {

/// What `ovt_pool_allocate` of a thread takes from.
struct Pool {
  std::weak_ptr<ResultMemory> results{};
  bool missed = false;  ///< it has taken from elsewhere
};

Pool& pool() {
  thread_local Pool own;
  return own;
}

/// Allocates although the thread may be capturing a graph.
void* allocated(std::size_t bytes, int device) {
  const run::OnDevice current(device);
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  OVT_CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
  void* memory = nullptr;
  const cudaError_t made = cudaMalloc(&memory, bytes);
  OVT_CHECK(cudaThreadExchangeStreamCaptureMode(&mode));
  if (made == cudaSuccess) return memory;
  static_cast<void>(cudaGetLastError());
  return nullptr;
}

}  // namespace

ovt_status ovt_result_allocate(ovt_world* world, std::int64_t bytes, void** result) {
  return guarded([&] {
    run::Ranks& ranks = *present(world, "world")->ranks;
    const run::Call call(ranks);
    (void)present(result, "result");
    if (bytes <= 0) run::refuse(fmt::format("bytes = {}: expected more than 0", bytes));
    const auto& results = ranks.world.results();
    void* const block = results ? results->take(static_cast<std::size_t>(bytes)) : nullptr;
    if (block == nullptr) {
      throw Refusal{
          OVT_ERROR_MEMORY,
          fmt::format("{} bytes: the world has {} for results, and not so many of them in "
                      "one piece are free: give it more by ovt_world_options.result_bytes, "
                      "or take other memory, which costs a copy",
                      bytes, results ? results->bytes() : 0)};
    }
    *result = block;
  });
}

void ovt_result_free(void* result) {
  static_cast<void>(ResultMemory::give(result));
}

std::uint64_t ovt_pool_begin(ovt_world* world, cudaStream_t stream) {
  std::uint64_t capture = 0;
  const ovt_status found = guarded([&] {
    pool().results = present(world, "world")->ranks->world.results();
    capture = run::CapturedRuns::capture_of(stream);
  });
  const bool missed = std::exchange(pool().missed, false);
  return found != OVT_OK || missed ? OVT_POOL_MISSED : capture;
}

void* ovt_pool_allocate(std::ptrdiff_t bytes, int device, cudaStream_t /*stream*/) {
  void* memory = nullptr;
  (void)guarded([&] {
    const auto size = static_cast<std::size_t>(std::max<std::ptrdiff_t>(bytes, 0));
    const auto results = pool().results.lock();
    memory = results ? results->take(size) : nullptr;
    if (memory != nullptr) return;
    pool().missed = true;
    memory = allocated(size, device);
  });
  return memory;
}

void ovt_pool_free(void* memory, std::size_t /*bytes*/, int device, cudaStream_t /*stream*/) {
  (void)guarded([&] {
    if (memory == nullptr || ResultMemory::give(memory)) return;
    const run::OnDevice current(device);
    OVT_CHECK(cudaFree(memory));
  });
}
