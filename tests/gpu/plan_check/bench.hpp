#pragma once
// The means of a rank of the check: NCCL's communicator, the library under test, memory.

#include <overlaptune/run.h>
#include <span>
#include <string>
#include <vector>

#include "core/config/config.hpp"
#include "core/problem.hpp"
#include "run/handles.hpp"
#include "run/plan.hpp"
#include "tests/gpu/plan_check/given_peers.hpp"
#include "tests/gpu/plan_check/rank_process.hpp"

namespace overlaptune::plan_check {

/// Throws `Failure` with the library's own message unless the status is OVT_OK.
void check(ovt_status status);

[[nodiscard]] ovt_problem problem_of(const Problem& problem);
/// The sizes of a legal config. Throws `Failure` for any other.
[[nodiscard]] ovt_sizes sizes_of(const Problem& problem, const Config& config);

class Bench {
 public:
  explicit Bench(const RankProcess& process);
  ~Bench();
  Bench(const Bench&) = delete;
  Bench& operator=(const Bench&) = delete;

  [[nodiscard]] const RankProcess& process() const { return process_; }
  [[nodiscard]] ncclComm_t comm() const { return comm_; }
  [[nodiscard]] ovt_world* world() const { return world_; }
  [[nodiscard]] cudaStream_t stream() const { return stream_.get(); }

  /// The largest value of any rank, element by element.
  [[nodiscard]] std::vector<double> largest(std::span<const double> values);
  [[nodiscard]] double largest(double value) { return largest(std::span(&value, 1)).front(); }
  /// Waits until the work on the stream has ended, as long as the placement's patience.
  void finish() const;

 private:
  static constexpr std::size_t kMostValues = 4096;
  const RankProcess& process_;
  ncclComm_t comm_;
  ovt_world* world_ = nullptr;
  run::Stream stream_;
  run::DeviceMemory scratch_;
  GivenPeers given_;
};

/// A plan that is destroyed with this object.
class MadePlan {
 public:
  /// Collective. Keeps the status and the text of an error.
  MadePlan(Bench& bench, const Problem& problem, const Config& config);
  ~MadePlan() { ovt_plan_destroy(plan_); }
  MadePlan(const MadePlan&) = delete;
  MadePlan& operator=(const MadePlan&) = delete;

  [[nodiscard]] ovt_plan* get() const { return plan_; }
  [[nodiscard]] ovt_status status() const { return status_; }
  [[nodiscard]] const std::string& error() const { return error_; }
  [[nodiscard]] ovt_buffers buffers() const;
  /// `scales`: for dtypes that have some.
  void run(const void* a, const void* b, void* c, cudaStream_t stream,
           const run::ScaleOperands& scales = {}) const;

 private:
  ovt_plan* plan_ = nullptr;
  ovt_status status_;
  std::string error_{};
};

}  // namespace overlaptune::plan_check
