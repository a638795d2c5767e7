#pragma once
// Random choices for configs that are drawn without the model.

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "core/base/hash.hpp"
#include "core/config/config.hpp"
#include "core/config/tiling.hpp"
#include "core/gpu.hpp"
#include "core/platform.hpp"

namespace overlaptune {

/// The CTAs and the transport of a config's collectives.
struct CommSetting {
  int comm_ctas = 0;
  Transport transport = Transport::ring;
  friend auto operator<=>(const CommSetting&, const CommSetting&) = default;
};

/// A generator that gives the same numbers with every standard library, whose distributions differ.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : state_(seed) {}
  /// A number from 0 to sides - 1.
  std::size_t roll(std::size_t sides) {
    state_ = mix(state_);
    return static_cast<std::size_t>(state_ % sides);
  }

 private:
  std::uint64_t state_;
};

/// Deals the items of a list in random order, then all of them again in another order. So each item
/// comes equally often.
template <class T>
class Deck {
 public:
  explicit Deck(std::vector<T> items) : items_(std::move(items)) {}
  /// The deck must not be empty.
  const T& deal(Dice& dice) {
    if (next_ == 0) {
      for (std::size_t i = items_.size(); i > 1; --i)
        std::swap(items_[i - 1], items_[dice.roll(i)]);
    }
    const T& item = items_[next_];
    next_ = (next_ + 1) % items_.size();
    return item;
  }
  [[nodiscard]] bool empty() const { return items_.empty(); }

 private:
  std::vector<T> items_;
  std::size_t next_ = 0;
};

/// Ways of dividing the waves of a GEMM into groups.
enum class PartitionKind { one_group, every_wave, equal_groups, random_cuts, ever_smaller };

/// The wave groups of a random partition of this kind. A wave ends at each of `cuts`.
[[nodiscard]] std::vector<std::int64_t> random_groups(std::span<const Cut> cuts, PartitionKind kind,
                                                      Dice& dice);

/// The dice, and one deck for each field whose values shall all come equally often.
struct Draws {
  /// The tiles are those that a GPU of the platform allows.
  Draws(std::uint64_t seed, const Platform& platform, Elements elements);

  Dice dice;
  int sms = 0;  ///< SMs of one GPU
  GpuLimits limits{};
  Deck<std::vector<Tile>> shapes;  ///< each item: all tiles of one block_m and block_n
  Deck<int> swizzles;              ///< not yet limited to the panels of a row block
  Deck<Wait> waits;                ///< `driver` three times in four
  Deck<PartitionKind> partitions;
};

}  // namespace overlaptune
