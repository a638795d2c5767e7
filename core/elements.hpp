#pragma once
// Element types of the matrices of a product, one row for each combination that is known, and what
// follows from them.

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "core/base/names.hpp"

namespace overlaptune {

/// Type of the elements of one matrix. `e4m3`: 8 bits, largest number 448 (Micikevicius et al.
/// 2022, "FP8 formats for deep learning").
enum class Dtype { bf16, fp16, e4m3 };

[[nodiscard]] constexpr std::int64_t bytes_of(Dtype dtype) {
  return dtype == Dtype::e4m3 ? 1 : 2;
}

/// Factors in fp32 that the elements of A and B are to be multiplied with: none; one for each
/// matrix, the same on all ranks; or one for each row of A and each row of B (column of C).
enum class Scales { none, tensor, rows };

/// Types of the elements of A, B and C together, with their scales; people call it the dtype of a
/// problem. Sums are in fp32, but tensor cores keep fewer bits of sums of 8-bit products, unless
/// the type is an `exact` one (`ElementsTraits::exact`).
enum class Elements {
  bf16,
  fp16,
  e4m3_rows_bf16,
  e4m3_rows_fp16,
  e4m3_tensor_bf16,
  e4m3_tensor_fp16,
  e4m3_rows_bf16_exact,
  e4m3_rows_fp16_exact,
  e4m3_tensor_bf16_exact,
  e4m3_tensor_fp16_exact
};

template <>
struct NamesOf<Elements> {
  static constexpr std::string_view what = "dtype";
  static constexpr std::array<Named<Elements>, 10> all{
      {{Elements::bf16, "bf16"},
       {Elements::fp16, "fp16"},
       {Elements::e4m3_rows_bf16, "e4m3_rows_bf16"},
       {Elements::e4m3_rows_fp16, "e4m3_rows_fp16"},
       {Elements::e4m3_tensor_bf16, "e4m3_tensor_bf16"},
       {Elements::e4m3_tensor_fp16, "e4m3_tensor_fp16"},
       {Elements::e4m3_rows_bf16_exact, "e4m3_rows_bf16_exact"},
       {Elements::e4m3_rows_fp16_exact, "e4m3_rows_fp16_exact"},
       {Elements::e4m3_tensor_bf16_exact, "e4m3_tensor_bf16_exact"},
       {Elements::e4m3_tensor_fp16_exact, "e4m3_tensor_fp16_exact"}}};
};

struct ElementsTraits {
  Elements elements{};
  Dtype operand{};  ///< of A and B
  Dtype result{};   ///< of C
  Scales scales{};  ///< of A and B
  /// Tensor cores multiply all elements of a *rate class* at the same rate: a GEMM time that was
  /// measured with one of them holds for the others. The class has the name of its first member.
  Elements rate_class{};
  /// Sums of 8-bit products are added up in fp32 every 128 products. Else tensor cores add up all
  /// of them, with about 14 bits (DeepSeek-V3 technical report, section 3.3.2).
  bool exact = false;
};

/// The traits of all elements, in the order of `Elements`.
inline constexpr std::array<ElementsTraits, NamesOf<Elements>::all.size()> kElements{{
    {Elements::bf16, Dtype::bf16, Dtype::bf16, Scales::none, Elements::bf16},
    {Elements::fp16, Dtype::fp16, Dtype::fp16, Scales::none, Elements::bf16},
    {Elements::e4m3_rows_bf16, Dtype::e4m3, Dtype::bf16, Scales::rows, Elements::e4m3_rows_bf16},
    {Elements::e4m3_rows_fp16, Dtype::e4m3, Dtype::fp16, Scales::rows, Elements::e4m3_rows_bf16},
    {Elements::e4m3_tensor_bf16, Dtype::e4m3, Dtype::bf16, Scales::tensor,
     Elements::e4m3_rows_bf16},
    {Elements::e4m3_tensor_fp16, Dtype::e4m3, Dtype::fp16, Scales::tensor,
     Elements::e4m3_rows_bf16},
    {Elements::e4m3_rows_bf16_exact, Dtype::e4m3, Dtype::bf16, Scales::rows,
     Elements::e4m3_rows_bf16_exact, true},
    {Elements::e4m3_rows_fp16_exact, Dtype::e4m3, Dtype::fp16, Scales::rows,
     Elements::e4m3_rows_bf16_exact, true},
    {Elements::e4m3_tensor_bf16_exact, Dtype::e4m3, Dtype::bf16, Scales::tensor,
     Elements::e4m3_rows_bf16_exact, true},
    {Elements::e4m3_tensor_fp16_exact, Dtype::e4m3, Dtype::fp16, Scales::tensor,
     Elements::e4m3_rows_bf16_exact, true},
}};

[[nodiscard]] constexpr const ElementsTraits& traits_of(Elements elements) {
  return kElements[static_cast<std::size_t>(elements)];
}

[[nodiscard]] constexpr Dtype operand_of(Elements elements) {
  return traits_of(elements).operand;
}
[[nodiscard]] constexpr Dtype result_of(Elements elements) {
  return traits_of(elements).result;
}
[[nodiscard]] constexpr Scales scales_of(Elements elements) {
  return traits_of(elements).scales;
}
[[nodiscard]] constexpr bool is_scaled(Elements elements) {
  return scales_of(elements) != Scales::none;
}
[[nodiscard]] constexpr bool is_exact(Elements elements) {
  return traits_of(elements).exact;
}
/// Scales of a matrix of so many rows.
[[nodiscard]] constexpr std::int64_t scale_count(Elements elements, std::int64_t rows) {
  if (!is_scaled(elements)) return 0;
  return scales_of(elements) == Scales::rows ? rows : 1;
}

/// Bytes of an element of A or B, and of C.
[[nodiscard]] constexpr std::int64_t operand_bytes(Elements elements) {
  return bytes_of(operand_of(elements));
}
[[nodiscard]] constexpr std::int64_t result_bytes(Elements elements) {
  return bytes_of(result_of(elements));
}

/// Whether A and B are quantised before the product: their elements are smaller than those of C.
[[nodiscard]] constexpr bool is_quantised(Elements elements) {
  return operand_bytes(elements) < result_bytes(elements);
}

[[nodiscard]] constexpr Elements rate_class_of(Elements elements) {
  return traits_of(elements).rate_class;
}

/// Bytes of A (m x k), B (n x k) and C (m x n) together. In floating point: they may pass 2^63.
[[nodiscard]] constexpr double product_bytes(std::int64_t m, std::int64_t n, std::int64_t k,
                                             Elements elements) {
  const auto rows = static_cast<double>(m);
  const auto columns = static_cast<double>(n);
  const auto depth = static_cast<double>(k);
  return (rows + columns) * depth * static_cast<double>(operand_bytes(elements)) +
         rows * columns * static_cast<double>(result_bytes(elements));
}

/// Numbers that k and n must be multiples of, because TMA and cp.async need rows of whole 16 bytes:
/// k of A and B, n of C. cuBLASLt multiplies 8-bit operands only where n is a multiple of 16, too.
inline constexpr std::int64_t kAlignedBytes = 16;
[[nodiscard]] constexpr std::int64_t k_multiple(Elements elements) {
  return kAlignedBytes / operand_bytes(elements);
}
[[nodiscard]] constexpr std::int64_t n_multiple(Elements elements) {
  return kAlignedBytes / operand_bytes(elements);
}

}  // namespace overlaptune
