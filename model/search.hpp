#pragma once
// The fastest configs of a problem under the model.

#include <functional>
#include <utility>
#include <vector>

#include "model/model.hpp"

namespace overlaptune {

/// A config with the time that the model predicts for it.
struct Scored {
  Config config{};
  Microseconds time{};
};

/// The best configs found so far, one for each combination that was offered.
class BestConfigs {
 public:
  /// `stop`, `accepts`: as of `SearchOptions`.
  explicit BestConfigs(int wanted, std::function<bool()> stop = {},
                       std::function<bool(const Config&)> accepts = {})
      : wanted_(static_cast<std::size_t>(wanted)),
        stop_(std::move(stop)),
        accepts_(std::move(accepts)) {}

  /// Whether the caller asks the search to end. Its result is then what was found so far.
  [[nodiscard]] bool stopped() const { return stop_ && stop_(); }

  /// A config can enter the list only with a time under this, in microseconds. Infinite while the
  /// list is not full.
  [[nodiscard]] double limit() const;
  void offer(Scored scored);
  /// The time of the fastest config, in microseconds. Infinite while the list is empty.
  [[nodiscard]] double first() const;
  /// Offers `scored` in the place of the config for which `same` is true, if there is one.
  void replace(const std::function<bool(const Config&)>& same, Scored scored);
  /// The configs, fastest first.
  [[nodiscard]] std::vector<Scored> take() && { return std::move(scored_); }

 private:
  std::size_t wanted_;
  std::function<bool()> stop_;
  std::function<bool(const Config&)> accepts_;
  std::vector<Scored> scored_;
};

enum class Space {
  full,    ///< every feasible tile and every probed number of comm CTAs
  subset,  ///< a few tiles (docs/model.md): for fast answers
  /// The full space, with every cut of long problems too, for checks. Its memory grows with the
  /// square of the number of cuts.
  every_cut,
};

/// Whether `Space::subset` has this tile: one with the deepest pipeline that fits, alone or with
/// the widest cluster (no cluster where two CTAs can share a tile).
[[nodiscard]] bool in_subset(const Tile& tile, const Problem& problem, int sms,
                             const GpuLimits& limits);

struct SearchOptions {
  Space space = Space::full;
  /// Number of configs wanted. The first is the optimum of the space, or nearly so if there are
  /// very many waves. Each of the others is the optimum of its combination of strategy, tile,
  /// swizzle, chunks, comm CTAs and transport, or nearly so if there are many waves
  /// (docs/model.md).
  int best = 1;
  /// Strategies to consider; empty: all that the model knows. `sequential` is always considered.
  std::vector<Strategy> strategies{};
  /// Which of their configs to consider; empty: all. Not asked about `sequential`.
  std::function<bool(const Config&)> accepts{};
  /// SMs that plans leave alone (`LearnedModel::rank` only).
  int free_sms = 0;
  /// Called now and then. Once it returns true, the search ends with what it has, which need not be
  /// the best. Empty: never.
  std::function<bool()> stop{};
};

[[nodiscard]] bool considers(const SearchOptions& options, Strategy strategy);

/// The best configs, fastest first. The list is never empty, because `sequential` is always
/// considered.
/// Exact under the model unless stopped, or so long that not every wave is looked at: no config of
/// the space is predicted to be faster than the first.
/// Error: as `Model::predict` for `sequential`.
[[nodiscard]] Expected<std::vector<Scored>> search(const Model& model, const Problem& problem,
                                                   Launch launch, const SearchOptions& options);

/// At most `size` of the scored configs to try out: the first, then configs that differ from those
/// already taken in strategy, tile shape, comm CTAs, transport or chunks, so that one error of the
/// model does not spoil all of them. If there are too few of these, the fastest of the others
/// follow.
[[nodiscard]] std::vector<Scored> shortlist(const std::vector<Scored>& scored, int size);

}  // namespace overlaptune
