#pragma once
// A second run of the fastest candidate, which is longer and traced.

#include <optional>
#include <vector>

#include "core/activity.hpp"
#include "core/config/candidate.hpp"
#include "machine/machine.hpp"
#include "tuner/validate.hpp"

namespace overlaptune {

/// Second runs of one tuning run. A machine that turns out not to trace is asked for a trace only
/// once.
class SecondRun {
 public:
  explicit SecondRun(Machine& machine) : machine_(machine) {}

  /// Runs a winner beside `sequential`, spread over about a second. Returns it with the verdict,
  /// times and overlap fraction of this run, and with GEMM and collective alone as in its rounds,
  /// where the machine times them there (`gemm`: as they were by themselves); returns none where it
  /// fails or is slower than `sequential`. Where the run cannot be made, or `sequential` has no
  /// time in it, the winner is returned unchanged. The overlap fraction is absent where the machine
  /// cannot trace. The log reports each of these cases.
  [[nodiscard]] std::optional<Winner> confirmed(Winner winner, const Candidate& sequential,
                                                const GemmTimes& gemm);

 private:
  [[nodiscard]] std::optional<double> overlap_of(const Candidate& winner,
                                                 const std::vector<Activity>& activities);

  Machine& machine_;
  bool traces_ = true;  ///< the machine traces, as far as is known
};

}  // namespace overlaptune
