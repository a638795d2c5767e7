#pragma once
// The element type of a generated kernel.

#include <string_view>

#include "core/elements.hpp"

namespace overlaptune::kernels {

/// Its C++ name in the headers of the kernels (kernels/device/types.cuh).
[[nodiscard]] constexpr std::string_view element_name(Dtype dtype) {
  switch (dtype) {
    case Dtype::bf16:
      return "Element::bf16";
    case Dtype::fp16:
      return "Element::fp16";
    case Dtype::e4m3:
      return "Element::e4m3";
  }
  return {};
}

}  // namespace overlaptune::kernels
