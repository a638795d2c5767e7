#pragma once
// The error of a result.

#include <algorithm>

namespace overlaptune::kernels {

/// `largest` is the largest relative error (Euclidean norm) of a segment: 64 columns of one of the
/// given rows of C (the last segment of a row has up to 127). `not_finite` counts the elements of
/// all of C that are not finite.
struct Deviation {
  double largest = 0;
  unsigned long long not_finite = 0;
};

/// The larger of the two errors, field by field.
[[nodiscard]] inline Deviation worse(const Deviation& a, const Deviation& b) {
  return {.largest = std::max(a.largest, b.largest),
          .not_finite = std::max(a.not_finite, b.not_finite)};
}

}  // namespace overlaptune::kernels
