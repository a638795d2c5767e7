#pragma once
// A cluster's figures, corrected by measured times of one operation.

#include <map>
#include <span>

#include "model/curve.hpp"
#include "planning/whatif/cluster.hpp"
#include "planning/whatif/measured_rows.hpp"

namespace overlaptune::cluster {

struct Estimate {
  double us = 0;
  double low_us = 0;  ///< with 90 % of the errors that the fit makes on rows it does not know
  double high_us = 0;
  std::vector<AlgorithmTime> algorithms{};  ///< of the fitted cluster, the fastest one first
};

/// Three constants are fitted to the rows (least squares of logarithms): factors of the launch, of
/// the latencies, and of the rates. What they leave is a curve for each measured GPU count, through
/// the times made non-decreasing (`Curve`: isotonic in log space).
class Calibration {
 public:
  /// Error: no row of the operation; a GPU count that the cluster cannot have.
  [[nodiscard]] static Expected<Calibration> fit(const Cluster& cluster,
                                                 std::span<const MeasuredRow> rows,
                                                 Operation operation);

  /// Error: as `times_of`.
  [[nodiscard]] Expected<Estimate> at(double bytes, int gpus) const;

 private:
  void fit_factors(std::span<const MeasuredRow> all);
  /// Whether the curve of the asked GPU count may answer.
  enum class Own { used, left_out };
  /// Between the curves of the measured GPU counts.
  [[nodiscard]] double log_ratio_at(double bytes, int gpus, Own own) const;
  [[nodiscard]] double log_spread(double bytes, int gpus) const;

  Operation operation_ = Operation::all_reduce;
  Cluster cluster_{};
  std::map<int, ByBytes> residuals_{};  ///< by GPUs: logarithms of measured over fitted times
};

}  // namespace overlaptune::cluster
