#pragma once
// A plan that works on a caller's memory. The operand that the ranks exchange may have to lie in
// the world's memory; it is copied from or to the caller's memory, unless the caller uses the
// world's, or has C in its memory for results.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "run/memory/sizes.hpp"
#include "run/operands.hpp"
#include "run/strategy_runner.hpp"
#include "run/streams/plan_range.hpp"

namespace overlaptune::run {

/// Bytes of GPU memory that a plan takes. `World::memory` holds `exchanged` and `workspace`, one
/// after the other.
struct DeployedSizes {
  std::int64_t exchanged = 0;  ///< A (exchanged first) or C; 0: it stays in the caller's memory
  std::int64_t workspace = 0;
  std::int64_t scratch = 0;  ///< other memory, needed only while the plan is made
  [[nodiscard]] std::int64_t shared() const { return exchanged + workspace; }
};
[[nodiscard]] DeployedSizes deployed_sizes(const Work& work);

/// Whether A (exchanged first) or C of a config has to lie in the world's memory.
[[nodiscard]] bool goes_through_world(const Work& work);

/// Enqueues a plan on the operands of a caller. `in_world`: the same, but for one that goes through
/// the world's memory, which has `bytes` bytes there, and is copied.
void enqueue_moving(cudaStream_t stream, Plan& plan, const Operands& in_world,
                    const Operands& given, std::size_t bytes);

/// The names of a plan: the number by which kernels name it (`Waits::number_of`), and its range in
/// profiles.
struct PlanNames {
  int number;
  PlanName range;
};

class DeployedPlan {
 public:
  /// Collective. `World::memory` must have room for `deployed_sizes(work).shared()`. Makes the plan
  /// on random operands of its own, as `tune` does, and runs it once, so that kernels are loaded
  /// and connections are made. Error, on every rank: a rank has too little memory
  /// (`out_of_memory`), or its `make_plan` fails. Throws `Failure` where the first run does not
  /// end.
  [[nodiscard]] static Expected<std::unique_ptr<DeployedPlan>> make(const Engine& engine,
                                                                    const Work& work);

  /// A plan of a family, made alone, without a run. It has the names of others of the family.
  /// Error: as `make_plan` for a family.
  [[nodiscard]] static Expected<std::unique_ptr<DeployedPlan>> make_alone(
      const Engine& engine, const Work& work, std::shared_ptr<FamilyParts> family,
      const PlanNames& names);

  /// Finds the plan's part of `World::memory`, which may have moved since the last call. Throws
  /// `Failure` (`bad_input`) where the world has lost its memory.
  void find_memory();

  /// The mistake in operands that a caller gives (run/operands.hpp). Call `find_memory` first.
  [[nodiscard]] std::string mistake_in(const Operands& given) const;

  /// Enqueues the plan on the caller's a, b, c and scales. It may be captured. Call `find_memory`
  /// first.
  void enqueue(cudaStream_t stream, const Operands& given);

  /// The exchanged operand in the world's memory; null where it stays in the caller's memory.
  [[nodiscard]] void* exchanged_a() const { return gathers_ ? exchanged_ : nullptr; }
  [[nodiscard]] void* exchanged_c() const { return gathers_ ? nullptr : exchanged_; }
  /// Whether C may lie in `World::results` as well.
  [[nodiscard]] bool takes_results() const {
    return exchanged_c() != nullptr && plan_->places_c() && world_.reaches_results();
  }

 private:
  DeployedPlan(const Engine& engine, const Work& work, const PlanNames& names);
  void locate();
  /// Whether the peers reach a caller's C where it is, in `World::results`.
  [[nodiscard]] bool is_reached(const void* c) const;

  World& world_;
  DeployedSizes sizes_;
  std::uint64_t generation_;  ///< of `World::memory`, when the addresses below were found
  bool gathers_;
  OperandBytes bytes_;
  std::size_t operand_bytes_;  ///< bytes of A (exchanged first) or C
  PlanNames names_;
  std::uint32_t work_;  ///< for `Waits::set_plan`
  void* exchanged_ = nullptr;
  void* workspace_ = nullptr;
  std::unique_ptr<Plan> plan_{};
};

}  // namespace overlaptune::run
