#pragma once
// Element types, and what follows from each: one row a dtype.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/names.hpp"

namespace overlaptune {

/// Element type of A, B and C; accumulation is always fp32.
enum class Dtype { bf16, fp16 };

template <>
struct NamesOf<Dtype> {
  static constexpr std::string_view what = "dtype";
  static constexpr std::array<Named<Dtype>, 2> all{{{Dtype::bf16, "bf16"}, {Dtype::fp16, "fp16"}}};
};

struct DtypeTraits {
  Dtype dtype{};
  std::int64_t bytes = 0;  ///< bytes of one element
  /// Tensor cores multiply all dtypes of a *rate class* at the same rate: a GEMM time that was
  /// measured with one of them holds for the others. The class has the name of its first member.
  Dtype rate_class{};
};

/// The traits of every dtype, in the order of `Dtype`.
inline constexpr std::array<DtypeTraits, NamesOf<Dtype>::all.size()> kDtypes{{
    {.dtype = Dtype::bf16, .bytes = 2, .rate_class = Dtype::bf16},
    {.dtype = Dtype::fp16, .bytes = 2, .rate_class = Dtype::bf16},
}};

[[nodiscard]] constexpr const DtypeTraits& traits_of(Dtype dtype) {
  return kDtypes[static_cast<std::size_t>(dtype)];
}

[[nodiscard]] constexpr std::int64_t bytes_of(Dtype dtype) {
  return traits_of(dtype).bytes;
}

[[nodiscard]] constexpr Dtype rate_class_of(Dtype dtype) {
  return traits_of(dtype).rate_class;
}

/// The number that the elements of a row must be a multiple of, because TMA and cp.async need rows
/// of whole 16 bytes.
[[nodiscard]] constexpr std::int64_t row_multiple(Dtype dtype) {
  constexpr std::int64_t kRowBytes = 16;
  return kRowBytes / bytes_of(dtype);
}

}  // namespace overlaptune
