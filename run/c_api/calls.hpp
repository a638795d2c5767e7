#pragma once
// The begin of every function of the C interface of plans, and how a plan of it is enqueued.

#include <memory>

#include "core/abi/guard.hpp"
#include "include/overlaptune/run.h"
#include "run/deployed.hpp"
#include "run/ranks.hpp"

/// Plans and families hold the ranks too, so a world and its plans may be destroyed in any order.
struct ovt_world {
  std::shared_ptr<overlaptune::run::Ranks> ranks;
};

namespace overlaptune::run {

[[nodiscard]] ovt_status status_of(ErrorKind kind);

template <class Step>
ovt_status guarded(const Step& step) noexcept {
  return c::guarded(status_of, step);
}

/// Waits for the runs of this world's plans. A plan that is made runs in the memory that all plans
/// share. And beside a plan that waits for its peers on all SMs, collectives of the world, which
/// run on a stream of its own, could wait for it on one rank and it for them on another. Runs in
/// graphs are not seen.
void wait_for_plans(Ranks& ranks);

/// A call that uses the ranks: one at a time, on their GPU, and only while their world goes on.
class Call {
 public:
  /// Throws `c::Refusal` where the world has ended.
  explicit Call(Ranks& ranks);
  /// If the world ended during the call, its communicators end here, and with them the kernels that
  /// wait for other ranks.
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

 private:
  Ranks& ranks_;
  std::lock_guard<std::timed_mutex> lock_;
  OnDevice current_;
};

/// Writes a whole text with its NUL. Throws `c::Refusal` where it does not fit; `needed`: the
/// capacity that would do.
void write(const std::string& whole, char* text, std::size_t capacity, std::size_t needed);
/// Fill in outputs whose `size` the caller has set.
void write(const Problem& problem, std::int64_t shared_bytes, std::int64_t temporary_bytes,
           std::size_t size, ovt_sizes* sizes);
void write(DeployedPlan& plan, std::size_t size, ovt_buffers* buffers);

/// Enqueues a plan on a caller's a, b, c and scales, after the run before it, on whatever stream
/// and of whatever world that was; in a capture, after the run before it of that capture. Throws
/// `c::Refusal` for operands that it cannot have.
void run_plan(Ranks& ranks, DeployedPlan& plan, cudaStream_t stream, const Operands& operands);

}  // namespace overlaptune::run
