#pragma once
// The number of tokens from which overlap pays.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "planning/advice/advice.hpp"

namespace overlaptune {

/// Less is within what two measurements of one config differ by.
inline constexpr double kSureGain = 1.02;

/// Times by tokens, as far as they say from where overlap pays.
struct Threshold {
  int tp = 0;
  Parallelism parallelism = Parallelism::tensor;
  std::string name{};                    ///< the product, or "pass"
  std::optional<Problem> problem{};      ///< of the largest number of tokens; none for a pass
  std::optional<std::int64_t> tokens{};  ///< the least from which on all that were asked pay
  double gain = 1;                       ///< there; 1 where overlap never pays
  bool measured = false;                 ///< whether the gain there is measured
  std::int64_t largest = 0;
  double gain_at_largest = 1;
};

/// The thresholds of each product that has a choice and of the pass, for each TP size and way to
/// divide, in the order of the passes.
[[nodiscard]] std::vector<Threshold> thresholds(const Advice& advice);

/// The tokens from which a pass with sequence parallelism and overlap is surely faster than one
/// with all-reduce and without overlap.
struct SequenceThreshold {
  int tp = 0;
  std::optional<std::int64_t> tokens{};
};

/// One for each TP size for which both ways were asked; none otherwise.
[[nodiscard]] std::vector<SequenceThreshold> sequence_thresholds(const Advice& advice);

}  // namespace overlaptune
