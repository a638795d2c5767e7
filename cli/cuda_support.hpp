#pragma once
// Checks for commands that need a build with CUDA.

#include <string>

#include "core/base/error.hpp"

namespace overlaptune::cli {

/// Throws `Failure` (`machine_unavailable`) in a build without CUDA.
inline void require_cuda_support([[maybe_unused]] const std::string& command) {
#if !OVERLAPTUNE_HAS_CUDA
  throw Failure(ErrorKind::machine_unavailable,
                command + ": this build has no CUDA support, and so no generated kernels");
#endif
}

}  // namespace overlaptune::cli
