#pragma once
// A plan: a config of a problem made ready to be run, again and again, on a stream. The only way in
// which configs are launched. Plans are made by run/make_plan.hpp.

#include <cuda_runtime_api.h>

namespace overlaptune::run {

/// What one rank works on, in the standard layout (core/problem.hpp): A (for all_gather_gemm its
/// m/ranks rows), B, and the result C (for gemm_reduce_scatter its m/ranks rows). The transports
/// `symmetric` and `copy_engine` need A (all_gather_gemm) or C (the other ops) within
/// `World::memory`, at the same offset on every rank; `peer_access` needs C of gemm_all_reduce
/// there. `workspace` lies there with every transport; it has `workspace_bytes`, and may be null
/// where that is 0.
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  void* workspace = nullptr;
  friend bool operator==(const Operands&, const Operands&) = default;
};

class Plan {
 public:
  virtual ~Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Everything happens after what `stream` holds already, and before what is enqueued on it
  /// later. No allocation, no synchronization with the host: it may be captured into a graph.
  virtual void enqueue(cudaStream_t stream, const Operands& operands) = 0;

  /// Ends the waits of a run that is under way for signals of its own GPU, by work on another
  /// stream; the result is then nobody's. For a watchdog, on every rank: a wait of a stream on
  /// memory has no time limit of its own.
  virtual void release(cudaStream_t /*aside*/) {}

 protected:
  Plan() = default;
};

}  // namespace overlaptune::run
