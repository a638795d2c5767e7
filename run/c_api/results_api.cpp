// The C interface of memory for results.

#include "core/abi/values.hpp"
#include "run/c_api/c_arguments.hpp"
#include "run/c_api/calls.hpp"
#include "run/streams/captured_runs.hpp"
#include "run/waits/abandoned.hpp"

using namespace overlaptune;
using c::present;
using c::Refusal;
using run::Call;
using run::guarded;
using run::ResultMemory;

namespace {

/// The results that `ovt_pool_allocate` of this thread takes from.
std::weak_ptr<ResultMemory>& results_of_thread() {
  thread_local std::weak_ptr<ResultMemory> results;
  return results;
}

}  // namespace

ovt_status ovt_result_allocate(ovt_world* world, std::int64_t bytes, void** result) {
  return guarded([&] {
    run::Ranks& ranks = *present(world, "world")->ranks;
    const Call call(ranks);
    (void)present(result, "result");
    if (bytes <= 0) run::refuse(fmt::format("bytes = {}: expected more than 0", bytes));
    const auto& results = ranks.world.results();
    void* const block = results ? results->take(static_cast<std::size_t>(bytes)) : nullptr;
    if (block == nullptr) {
      throw Refusal{OVT_ERROR_MEMORY,
                    fmt::format("{} bytes: the world has {} for results, and not so many of them "
                                "in one piece are free: give it more by "
                                "ovt_world_options.result_bytes, or take other memory, which "
                                "costs a copy",
                                bytes, results ? results->bytes() : 0)};
    }
    *result = block;
  });
}

void ovt_result_free(void* result) {
  static_cast<void>(ResultMemory::give(result));
}

ovt_status ovt_pool_begin(ovt_world* world, cudaStream_t stream, std::uint64_t* capture) {
  return guarded([&] {
    run::Ranks& ranks = *present(world, "world")->ranks;
    const Call call(ranks);
    (void)present(capture, "capture");
    const auto& results = ranks.world.results();
    if (!results) throw Refusal{OVT_ERROR_MEMORY, "the world has no memory for results"};
    results_of_thread() = results;
    *capture = run::CapturedRuns::capture_of(stream);
  });
}

void* ovt_pool_allocate(std::ptrdiff_t bytes, int /*device*/, cudaStream_t /*stream*/) {
  const auto results = results_of_thread().lock();
  return results && bytes > 0 ? results->take(static_cast<std::size_t>(bytes)) : nullptr;
}

void ovt_pool_free(void* memory, std::size_t /*bytes*/, int device, cudaStream_t /*stream*/) {
  (void)guarded([&] {
    if (memory == nullptr) return;
    // An allocator gives back what kernels still use, because cudaFree waits for them.
    const run::OnDevice current(device);
    if (run::waited_until_idle()) static_cast<void>(ResultMemory::give(memory));
  });
}
