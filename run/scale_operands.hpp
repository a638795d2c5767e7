#pragma once
// Scales of the operands of a product.

namespace overlaptune::run {

/// Scales of A and B, for elements that have some (core/elements.hpp): `scale_count` of each, in
/// the order of the rows, aligned to 16 bytes.
struct ScaleOperands {
  const float* a = nullptr;
  const float* b = nullptr;
  friend bool operator==(const ScaleOperands&, const ScaleOperands&) = default;
};

}  // namespace overlaptune::run
