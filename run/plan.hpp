#pragma once
// A plan: a config of a problem made ready to be run, again and again, on a stream. The only way in
// which configs are launched.

#include <memory>
#include <span>

#include "core/config.hpp"
#include "core/problem.hpp"
#include "run/collective.hpp"
#include "run/gemm.hpp"
#include "run/own_gemm.hpp"

namespace overlaptune::run {

/// What one rank works on, in the standard layout (core/problem.hpp): A (for all_gather_gemm its
/// m/ranks rows), B, and the result C (for gemm_reduce_scatter its m/ranks rows). The transport
/// `symmetric` and `copy_engine` need A (all_gather_gemm) or C (the others) within `World::memory`,
/// at the same offset on every rank, `peer_access` C of gemm_all_reduce; `workspace` too, always,
/// of `workspace_bytes`; null, perhaps, where that is 0.
struct Operands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  void* workspace = nullptr;
  friend bool operator==(const Operands&, const Operands&) = default;
};

/// Elements of each operand on one rank.
[[nodiscard]] std::int64_t elements_of_a(const Problem& problem);
[[nodiscard]] std::int64_t elements_of_b(const Problem& problem);
[[nodiscard]] std::int64_t elements_of_c(const Problem& problem);
/// For whatever config.
[[nodiscard]] std::int64_t workspace_bytes(const Problem& problem);
[[nodiscard]] std::int64_t workspace_bytes(const Problem& problem, const Config& config);

/// A plan that is wrong on purpose: what validation must find out.
/// (`missing_signal`, of `signaled`: its last group does not start until the plan is released.)
enum class Mutant { none, skipped_tile, skipped_k_step, missing_wait, missing_signal };

/// What all plans of a process share.
struct Engine {
  World& world;
  GemmLibrary& library;
  OwnLibrary& own;
  int sms = 0;  ///< of one GPU
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

/// Whether a config means something for the problem: what can be said without a GPU. Error
/// (`bad_input`): the field.
[[nodiscard]] Expected<void> runnable(const Problem& problem, const Config& config);

/// Collective: makes communicators, registers memory, chooses algorithms on the given operands
/// (whose contents are overwritten). Error: `bad_input` for a config that cannot be run here.
[[nodiscard]] Expected<std::unique_ptr<Plan>> make_plan(const Engine& engine,
                                                        const Problem& problem,
                                                        const Config& config,
                                                        std::span<const Operands> operands,
                                                        Mutant mutant = Mutant::none);

}  // namespace overlaptune::run
