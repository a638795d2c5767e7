#pragma once
// Ranges of NVTX, by which Nsight Systems shows the plan that a piece of the GPU's work belongs to.

#include <string>

struct nvtxStringRegistration_st;

namespace overlaptune::run {

/// The name of a plan, known to the tool, if one is attached. It takes microseconds to make, and
/// nothing to use where there is no tool.
class PlanName {
 public:
  explicit PlanName(const std::string& name);

  /// A range with this name on the calling thread, while it lives.
  class Range {
   public:
    explicit Range(const PlanName& name);
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
  };

 private:
  nvtxStringRegistration_st* name_;
};

}  // namespace overlaptune::run
