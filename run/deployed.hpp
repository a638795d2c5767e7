#pragma once
// A plan on memory of somebody else: what the ranks exchange goes through the world's memory, and
// from or to the caller's own where that is another.

#include "run/engine.hpp"
#include "run/plan.hpp"
#include "run/sizes.hpp"

namespace overlaptune::run {

/// Bytes of GPU memory that a plan takes. `World::memory` holds the first two, one after the other.
struct DeployedSizes {
  std::int64_t exchanged = 0;  ///< A (all_gather_gemm) or C; 0: the caller's is as good
  std::int64_t workspace = 0;
  std::int64_t scratch = 0;  ///< beside it, while the plan is made
  [[nodiscard]] std::int64_t shared() const { return exchanged + workspace; }
};
[[nodiscard]] DeployedSizes deployed_sizes(const Work& work);

class DeployedPlan {
 public:
  /// Collective. `World::memory` has room for `deployed_sizes(…).shared()`. Makes the plan on
  /// random operands of its own, as tuning did, and runs it once, so that kernels are loaded and
  /// connections made. Error, on every rank: as `make_plan` on any. Throws `Failure` where that run
  /// does not end.
  [[nodiscard]] static Expected<std::unique_ptr<DeployedPlan>> make(const Engine& engine,
                                                                    const Work& work);

  /// Enqueues only. It may be captured.
  void enqueue(cudaStream_t stream, const void* a, const void* b, void* c);

  /// In the world's memory; null where nothing is exchanged through it.
  [[nodiscard]] void* exchanged_a() const { return gathers_ ? exchanged_ : nullptr; }
  [[nodiscard]] void* exchanged_c() const { return gathers_ ? nullptr : exchanged_; }

 private:
  DeployedPlan(const Engine& engine, const Work& work);

  bool gathers_;
  std::size_t operand_bytes_;  ///< of what would be exchanged
  void* exchanged_ = nullptr;
  void* workspace_ = nullptr;
  std::unique_ptr<Plan> plan_{};
};

}  // namespace overlaptune::run
