#pragma once
// NVRTC as a table of functions, opened at run time. So the program starts without CUDA, and its
// build needs no CUDA headers.

#include <cstddef>
#include <string>
#include <vector>

#include "core/base/error.hpp"

namespace overlaptune::kernels {

/// The functions of nvrtc.h (CUDA 12 and 13) that are used here. Any thread may call them, several
/// at once. The library stays loaded until the process ends.
struct Nvrtc {
  using Program = struct Opaque*;

  int (*version)(int* major, int* minor) = nullptr;
  const char* (*error_string)(int status) = nullptr;
  int (*supported_count)(int* count) = nullptr;
  int (*supported)(int* architectures) = nullptr;  ///< 90 for sm_90
  int (*create)(Program* program, const char* source, const char* name, int headers,
                const char* const* header_texts, const char* const* header_names) = nullptr;
  int (*destroy)(Program* program) = nullptr;
  int (*add_name)(Program program, const char* expression) = nullptr;
  int (*compile)(Program program, int options, const char* const* texts) = nullptr;
  /// The name in the cubin of an expression that was added. It lives as long as the program.
  int (*lowered_name)(Program program, const char* expression, const char** name) = nullptr;
  int (*log_size)(Program program, std::size_t* bytes) = nullptr;
  int (*log)(Program program, char* text) = nullptr;
  int (*cubin_size)(Program program, std::size_t* bytes) = nullptr;
  int (*cubin)(Program program, char* bytes) = nullptr;
};

/// The files in which NVRTC is looked for: libnvrtc.so.13, then libnvrtc.so.12; each where the
/// loader looks, then beside the program, then in /usr/local/cuda.
[[nodiscard]] std::vector<std::string> nvrtc_libraries();

/// Loads the first of `libraries` that can be loaded, with libnvrtc-builtins of the same folder
/// where it has one. Error (`machine_unavailable`): none can be loaded.
[[nodiscard]] Expected<Nvrtc> load_nvrtc(const std::vector<std::string>& libraries);

}  // namespace overlaptune::kernels
