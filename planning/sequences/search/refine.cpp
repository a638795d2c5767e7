#include "planning/sequences/search/refine.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <unordered_map>
#include <utility>

#include "core/base/index.hpp"
#include "planning/sequences/search/exact.hpp"
#include "planning/sequences/search/lower_bound.hpp"

namespace overlaptune {
namespace {

constexpr int kRepackBisections = 8;    // of bisection
constexpr long kNodes = 2'000;          // of branch and bound, for a set that is tried
constexpr long kMoreNodes = 50'000;     // for one that stays
constexpr int kKicks = 200;             // random changes, each followed by local search
constexpr std::size_t kMostSets = 700;  // that are solved before kicks end
constexpr int kMovesOfKick = 3;
constexpr double kBetter = 1 - 1e-6;

/// A set of sequences: bit i is sequence i, longest first.
using Set = std::uint32_t;

class Refinement {
 public:
  explicit Refinement(const Runs& runs) : runs_(runs), sequences_(each_of(runs.counts())) {}

  std::vector<Filled> improve(const std::vector<Filled>& micro_batches) {
    std::vector<Set> best = sets_of(micro_batches);
    for (std::size_t i = 0; i < best.size(); ++i) solve(best[i], micro_batches[i]);
    descend(best);
    double least = time_of(best);
    for (int kick = 0; kick < kKicks && solved_.size() < kMostSets; ++kick) {
      std::vector<Set> sets = best;
      for (int move = 0; move < kMovesOfKick; ++move) move_one(sets);
      if (time_of(sets) == kNever) continue;
      descend(sets);
      const double time = time_of(sets);
      if (time >= least * kBetter) continue;
      least = time;
      best = std::move(sets);
    }
    std::vector<Filled> made;
    for (const Set set : best) {
      branch_and_bound(runs_, counts_of(set), kMoreNodes, made.emplace_back(solved_.at(set)));
    }
    return made;
  }

 private:
  [[nodiscard]] Counts counts_of(Set set) const {
    Counts counts(index(runs_.size()), 0);
    for (std::size_t i = 0; i < sequences_.size(); ++i) {
      if ((set >> i & 1U) != 0) ++counts[index(sequences_[i])];
    }
    return counts;
  }

  [[nodiscard]] std::vector<Set> sets_of(const std::vector<Filled>& micro_batches) const {
    std::vector<Set> sets;
    Set placed = 0;
    for (const Filled& part : micro_batches) {
      Counts counts = part.taken(runs_.size());
      Set set = 0;
      for (std::size_t i = 0; i < sequences_.size(); ++i) {
        int& count = counts[index(sequences_[i])];
        if ((placed >> i & 1U) != 0 || count == 0) continue;
        --count;
        set |= Set{1} << i;
      }
      placed |= set;
      sets.push_back(set);
    }
    return sets;
  }

  /// The best micro-batch that is known for a set; without groups where none holds it.
  const Filled& solve(Set set, const Filled& known = {}) {
    const auto [at, added] = solved_.try_emplace(set, known);
    if (added && set != 0) {
      const Counts counts = counts_of(set);
      for (int level = 0; level < runs_.rates().levels(); ++level) {
        Filled packed = pack(runs_, counts, kRepackBisections, level);
        const bool better = at->second.groups.empty() || packed.time() < at->second.time();
        if (!packed.groups.empty() && better) at->second = std::move(packed);
      }
      branch_and_bound(runs_, counts, kNodes, at->second);
    }
    return at->second;
  }

  double time_of(Set set) {
    if (set == 0) return 0;
    const Filled& filled = solve(set);
    return filled.groups.empty() ? kNever : filled.time();
  }

  double time_of(const std::vector<Set>& sets) {
    double sum = 0;
    for (const Set set : sets) sum += time_of(set);
    return sum;
  }

  double bound_of(Set set) {
    if (set == 0) return 0;
    const auto [at, added] = bounds_.try_emplace(set, 0);
    if (added) at->second = lower_bound(runs_, counts_of(set), 1);
    return at->second;
  }

  /// Replaces two micro-batches if that is faster.
  bool replace(std::vector<Set>& sets, std::size_t a, std::size_t b, Set from, Set to) {
    const double before = (time_of(sets[a]) + time_of(sets[b])) * kBetter;
    if (bound_of(from) + bound_of(to) >= before) return false;
    if (time_of(from) + bound_of(to) >= before || time_of(from) + time_of(to) >= before)
      return false;
    sets[a] = from;
    sets[b] = to;
    return true;
  }

  bool improve_pair(std::vector<Set>& sets, std::size_t a, std::size_t b) {
    for (Set out = sets[a]; out != 0; out &= out - 1) {
      const Set one = out & (~out + 1);
      if (replace(sets, a, b, sets[a] & ~one, sets[b] | one)) return true;
      for (Set back = sets[b]; back != 0 && a < b; back &= back - 1) {
        const Set other = back & (~back + 1);
        if (replace(sets, a, b, (sets[a] & ~one) | other, (sets[b] & ~other) | one)) return true;
      }
    }
    return false;
  }

  void descend(std::vector<Set>& sets) {
    for (bool better = true; better;) {
      better = false;
      std::erase(sets, Set{0});
      sets.push_back(0);  // a micro-batch more
      for (std::size_t a = 0; a < sets.size(); ++a) {
        for (std::size_t b = 0; b < sets.size(); ++b) {
          if (a != b) better = improve_pair(sets, a, b) || better;
        }
      }
    }
    std::erase(sets, Set{0});
  }

  void move_one(std::vector<Set>& sets) {
    const Set one = Set{1} << random_() % sequences_.size();
    for (Set& set : sets) set &= ~one;
    sets[random_() % sets.size()] |= one;
  }

  const Runs& runs_;
  std::vector<int> sequences_;  ///< the run of every sequence
  std::unordered_map<Set, Filled> solved_{};
  std::unordered_map<Set, double> bounds_{};
  std::mt19937 random_{1};
};

}  // namespace

std::vector<Filled> refine(const Runs& runs, const std::vector<Filled>& micro_batches) {
  return Refinement(runs).improve(micro_batches);
}

}  // namespace overlaptune
