#pragma once
// A plan: a config of a problem, made ready to run on a stream any number of times. Every launch of
// a config goes through a plan. Plans are made by run/strategy_runner.hpp.

#include <cuda_runtime_api.h>

#include "run/scale_operands.hpp"

namespace overlaptune::run {

/// The matrices of one rank, in the standard layout (core/problem.hpp): A (for all_gather_gemm its
/// m/ranks rows), B, and the result C (for gemm_reduce_scatter its m/ranks rows). `symmetric` needs
/// A (exchanged first) or C within `World::memory`, at the same offset on every rank; `copy_engine`
/// needs C there, but not A; `peer_access` needs C of gemm_all_reduce and A of all_to_all_gemm
/// there, and strategy `peer_store` also C of gemm_all_to_all. `workspace` lies there with every
/// transport. It has `workspace_bytes` bytes, and may be null where that is 0.
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  void* workspace = nullptr;
  ScaleOperands scales{};
  friend bool operator==(const Operands&, const Operands&) = default;
};

class Plan {
 public:
  virtual ~Plan() = default;
  Plan(const Plan&) = delete;
  Plan& operator=(const Plan&) = delete;

  /// Enqueues the plan. Its work runs after the work that `stream` holds already, and before work
  /// that is enqueued on `stream` later. It allocates nothing and does not synchronize with the
  /// host, so it may be captured into a graph.
  virtual void enqueue(cudaStream_t stream, const Operands& operands) = 0;

  /// Whether each rank may have C at a place of its own, in `World::memory` or in `World::results`.
  /// If not, C lies at the same offset of `World::memory` on all.
  [[nodiscard]] virtual bool places_c() const { return false; }

  /// Forgets addresses in `World::memory`, which has moved. It is not collective: the communicators
  /// were made again.
  virtual void forget_addresses() {}

  /// Ends the driver's waits of a run under way for signals of its own GPU, by work on the stream
  /// `aside`: such a wait has no time limit. The result of that run is invalid. A plan that is
  /// wrong on purpose needs it, because its signals may not come. (`Waits::abort` ends the waits of
  /// kernels.)
  virtual void release(cudaStream_t /*aside*/) {}

 protected:
  Plan() = default;
};

}  // namespace overlaptune::run
