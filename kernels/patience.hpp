#pragma once
// The time limit of every wait of a kernel.

#include <cstdint>

namespace overlaptune::kernels {

/// Nanoseconds after which a wait ends in an error of the GPU.
inline constexpr std::uint64_t kPatience = 300'000'000'000;

}  // namespace overlaptune::kernels
