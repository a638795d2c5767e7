#pragma once
// The analytic model together with what was measured on the same platform: validated configs
// correct its predictions, and the best of them, adapted, are proposed for problems near by.

#include <vector>

#include "core/config/candidate.hpp"
#include "model/corrections.hpp"
#include "model/search.hpp"

namespace overlaptune {

/// A config with the time that both models predict.
struct LearnedScore {
  Config config{};
  Microseconds analytic{};
  /// The logarithm of the time that a measurement would show, over `analytic`.
  Correction correction{};
  CorrectionPoint point{};  ///< what the correction was made for

  [[nodiscard]] Microseconds time() const { return quantile(0); }
  /// The measured time lies between these two in four of five cases.
  [[nodiscard]] Microseconds p10() const { return quantile(-Correction::p90_deviations()); }
  [[nodiscard]] Microseconds p90() const { return quantile(Correction::p90_deviations()); }

 private:
  [[nodiscard]] Microseconds quantile(double deviations) const;
};

/// The score of a config that the analytic model predicts so, for the problem of `corrections`.
[[nodiscard]] LearnedScore score_of(const Config& config, const Prediction& prediction,
                                    const ProblemCorrections& corrections);

/// Whether the gain of a config over `sequential` is expected to be more than half of its standard
/// deviation, as far as measured configs tell: two of three such gains are there. Without any
/// measured config it is enough that a gain is expected.
[[nodiscard]] bool is_surely_faster(const LearnedScore& config, const LearnedScore& sequential,
                                    const ProblemCorrections& corrections);

/// Whether two configs launch the same kernels: those of one strategy and tile, which push or do
/// not, share them, whatever the sizes of the problem.
[[nodiscard]] bool same_kernels(const Config& a, const Config& b);

/// The configs that are worth a look for one problem.
struct Ranking {
  LearnedScore sequential{};           ///< the fastest `sequential`
  std::vector<LearnedScore> scores{};  ///< fastest first, each config once; `sequential` among them
  ProblemCorrections corrections{};

  /// The first one; or `sequential`, where measured configs tell how uncertain the gain over it is,
  /// and the config is not surely faster.
  [[nodiscard]] const LearnedScore& choice() const;
};

/// Constant functions may be called by any number of threads.
class LearnedModel {
 public:
  explicit LearnedModel(Model analytic) : analytic_(std::move(analytic)) {}

  /// Learns from a measured candidate. One that is not valid, or that the analytic model cannot
  /// predict, teaches nothing.
  void learn(const Candidate& candidate);

  [[nodiscard]] const Model& analytic() const { return analytic_; }
  /// The strategies of which a config was measured for the op, and `sequential`; empty where none
  /// was. What a platform never ran is a matter for tuning, not for answers.
  [[nodiscard]] std::vector<Strategy> measured_strategies(Op op) const;
  /// Whether a config of the same strategy was measured for the op, and, if the tiles of this one
  /// push, one whose tiles did; true where none was measured at all. As of `measured_strategies`,
  /// only the fastest of each problem are known.
  [[nodiscard]] bool was_tried(Op op, const Config& config) const;
  /// Whether the kernels of a config are those of the fastest config that was measured for some
  /// problem of the same op, elements and ranks. Such kernels are compiled already, or ahead
  /// (`overlaptune kernels --db`).
  [[nodiscard]] bool has_kernels_of(const Problem& problem, const Config& config) const;
  /// The corrections for one problem. Making them takes a millisecond.
  [[nodiscard]] ProblemCorrections around(const Problem& problem, Launch launch) const {
    return corrections_.around(problem, launch);
  }

  /// Predicts a config of the problem that `corrections` are for. Error: as `Model::predict`.
  [[nodiscard]] Expected<LearnedScore> score(const ProblemCorrections& corrections,
                                             const Config& config) const;

  /// The best configs of each strategy by the analytic search, and the best measured configs of the
  /// nearest problems that were measured, adapted to this one, ranked by their corrected times.
  /// With free SMs the times are those on the others, with corrections that were learned on all.
  /// Error: as `search`.
  [[nodiscard]] Expected<Ranking> rank(const Problem& problem, Launch launch,
                                       const SearchOptions& options) const;

 private:
  /// The fastest measured configs of one problem.
  struct Measured {
    Problem problem{};
    Launch launch{};
    std::vector<Scored> fastest{};
  };
  [[nodiscard]] std::vector<const Measured*> neighbours(const Problem& problem,
                                                        Launch launch) const;

  Model analytic_;
  Corrections corrections_{};
  std::vector<Measured> measured_{};
};

}  // namespace overlaptune
