#pragma once
// A plan that works on a caller's memory. The operand that the ranks exchange may have to lie in
// the world's memory; it is copied from or to the caller's memory, unless the caller uses the
// world's.

#include "run/engine.hpp"
#include "run/operands.hpp"
#include "run/plan.hpp"
#include "run/plan_range.hpp"
#include "run/sizes.hpp"

namespace overlaptune::run {

/// Bytes of GPU memory that a plan takes. `World::memory` holds `exchanged` and `workspace`, one
/// after the other.
struct DeployedSizes {
  std::int64_t exchanged = 0;  ///< A (all_gather_gemm) or C; 0: it stays in the caller's memory
  std::int64_t workspace = 0;
  std::int64_t scratch = 0;  ///< other memory, needed only while the plan is made
  [[nodiscard]] std::int64_t shared() const { return exchanged + workspace; }
};
[[nodiscard]] DeployedSizes deployed_sizes(const Work& work);

class DeployedPlan {
 public:
  /// Collective. `World::memory` must have room for `deployed_sizes(work).shared()`. Makes the plan
  /// on random operands of its own, as `tune` does, and runs it once, so that kernels are loaded
  /// and connections are made. Error, on every rank: a rank has too little memory
  /// (`out_of_memory`), or its `make_plan` fails. Throws `Failure` where the first run does not
  /// end.
  [[nodiscard]] static Expected<std::unique_ptr<DeployedPlan>> make(const Engine& engine,
                                                                    const Work& work);

  /// Finds the plan's part of `World::memory`, which may have moved since the last call. Throws
  /// `Failure` (`bad_input`) where the world has lost its memory.
  void find_memory();

  /// The mistake in operands that a caller gives (run/operands.hpp). Call `find_memory` first.
  [[nodiscard]] std::string mistake_in(const void* a, const void* b, void* c) const;

  /// Enqueues the plan on the caller's operands. It may be captured. Call `find_memory` first.
  void enqueue(cudaStream_t stream, const void* a, const void* b, void* c);

  /// The exchanged operand in the world's memory; null where it stays in the caller's memory.
  [[nodiscard]] void* exchanged_a() const { return gathers_ ? exchanged_ : nullptr; }
  [[nodiscard]] void* exchanged_c() const { return gathers_ ? nullptr : exchanged_; }

 private:
  DeployedPlan(const Engine& engine, const Work& work);
  void locate();

  World& world_;
  DeployedSizes sizes_;
  std::uint64_t generation_;  ///< of `World::memory`, when the addresses below were found
  bool gathers_;
  OperandBytes bytes_;
  std::size_t operand_bytes_;  ///< bytes of A (all_gather_gemm) or C (other ops)
  int number_;                 ///< by which kernels name the plan
  PlanName name_;
  void* exchanged_ = nullptr;
  void* workspace_ = nullptr;
  std::unique_ptr<Plan> plan_{};
};

}  // namespace overlaptune::run
