#pragma once
// Addresses of matrix elements.

#include <cstddef>
#include <cstdint>

#include "core/problem.hpp"

namespace overlaptune::run {

/// The address of element `index`.
[[nodiscard]] inline std::byte* at(void* base, std::int64_t index, Dtype dtype) {
  return static_cast<std::byte*>(base) + index * bytes_of(dtype);
}
[[nodiscard]] inline const std::byte* at(const void* base, std::int64_t index, Dtype dtype) {
  return static_cast<const std::byte*>(base) + index * bytes_of(dtype);
}

}  // namespace overlaptune::run
