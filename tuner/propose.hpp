#pragma once
// The configs of one problem that are worth measuring.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "core/config/candidate.hpp"
#include "model/learned_model.hpp"
#include "tuner/candidate_source.hpp"
#include "tuner/explore.hpp"

namespace overlaptune {

struct ProposeOptions {
  int top_k = 8;    ///< most configs that the model proposes
  int explore = 0;  ///< configs drawn from `seed` without asking the model
  std::uint64_t seed = 0;
  std::function<bool()> stop = {};  ///< called often; true ends the search with what was found
};

/// The candidates of a problem: `sequential`, then what the model proposes, then configs drawn at
/// random from `space`. Each config once. All have the time that was predicted before any of them
/// was measured. A config that the model cannot predict, because its collective was never probed,
/// is left out.
///
/// The model's first proposal is the one that it predicts to be fastest. After each measurement the
/// model predicts the others anew, and the next proposal is the one with the greatest expected
/// improvement over the best so far (Jones, Schonlau and Welch, Efficient global optimization of
/// expensive black-box functions, 1998). Proposals end where that is less than the noise of a
/// measurement.
class Proposals : public CandidateSource {
 public:
  /// `model` must outlive the proposals, and learns from what is judged. After a stop the proposals
  /// need not be the best ones. Error: as `search`.
  [[nodiscard]] static Expected<Proposals> make(LearnedModel& model, const ExploreSpace& space,
                                                const Problem& problem, Launch launch,
                                                const ProposeOptions& options);

  [[nodiscard]] std::vector<Candidate> likely() const override;
  [[nodiscard]] std::optional<Candidate> next() override;
  void judged(const Candidate& candidate) override;
  /// Takes note that a measured config cannot win. Its time is none to improve on any more, and its
  /// kernels are not proposed again; `next` has proposals again where others are worth a look.
  void ruled_out(const Config& config);

 private:
  explicit Proposals(LearnedModel& model) : model_(&model) {}
  [[nodiscard]] std::optional<Candidate> most_promising();
  [[nodiscard]] bool has_tried(Strategy strategy) const;
  [[nodiscard]] std::optional<Microseconds> best() const;  ///< least measured time

  LearnedModel* model_;
  int top_k_ = 0;
  std::optional<Candidate> sequential_{};   ///< until it was handed out
  std::vector<Candidate> by_model_{};       ///< not proposed yet; first the fastest
  std::vector<Candidate> drawn_{};          ///< not handed out yet, the last one first
  std::vector<Config> tried_{};             ///< proposed by the model
  int proposed_ = 0;                        ///< how many ranks were given
  std::optional<Microseconds> baseline_{};  ///< measured time of `sequential`
  std::vector<Scored> measured_{};          ///< by `paired_time`, without what was ruled out
  bool enough_ = false;                     ///< the model has proposed what is worth it
};

}  // namespace overlaptune
