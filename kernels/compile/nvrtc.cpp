#include "kernels/compile/nvrtc.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "core/base/dynamic_library.hpp"

namespace overlaptune::kernels {
namespace {

Expected<Nvrtc> functions_of(const DynamicLibrary& library) {
  Nvrtc nvrtc;
  const auto found = library.find({
      {"nvrtcVersion", nvrtc.version},
      {"nvrtcGetErrorString", nvrtc.error_string},
      {"nvrtcGetNumSupportedArchs", nvrtc.supported_count},
      {"nvrtcGetSupportedArchs", nvrtc.supported},
      {"nvrtcCreateProgram", nvrtc.create},
      {"nvrtcDestroyProgram", nvrtc.destroy},
      {"nvrtcAddNameExpression", nvrtc.add_name},
      {"nvrtcCompileProgram", nvrtc.compile},
      {"nvrtcGetLoweredName", nvrtc.lowered_name},
      {"nvrtcGetProgramLogSize", nvrtc.log_size},
      {"nvrtcGetProgramLog", nvrtc.log},
      {"nvrtcGetCUBINSize", nvrtc.cubin_size},
      {"nvrtcGetCUBIN", nvrtc.cubin},
  });
  if (!found) return error_of(found);
  return nvrtc;
}

/// Loads the builtins of NVRTC from its folder. NVRTC opens them by name only and has no run path;
/// where the loader does not find them, they must be loaded already.
void load_builtins(const DynamicLibrary& library, const Nvrtc& nvrtc) {
  int major = 0;
  int minor = 0;
  if (nvrtc.version(&major, &minor) != 0) return;
  const std::filesystem::path folder = std::filesystem::path(library.path()).parent_path();
  const std::string name = fmt::format("libnvrtc-builtins.so.{}.{}", major, minor);
  // If this fails, NVRTC looks for them itself, and reports that it found none.
  static_cast<void>(DynamicLibrary::open((folder / name).string()));
}

}  // namespace

std::vector<std::string> nvrtc_libraries() {
  std::error_code ignored;
  const std::filesystem::path program =
      std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  std::vector<std::string> libraries;
  for (const int major : {13, 12}) {
    const std::string name = fmt::format("libnvrtc.so.{}", major);
    libraries.push_back(name);
    if (!program.empty()) libraries.push_back((program / name).string());
    libraries.push_back("/usr/local/cuda/lib64/" + name);
  }
  return libraries;
}

Expected<Nvrtc> load_nvrtc(const std::vector<std::string>& libraries) {
  auto nvrtc = load_first(libraries, [](const DynamicLibrary& library) {
    auto functions = functions_of(library);
    if (functions) load_builtins(library, *functions);
    return functions;
  });
  if (!nvrtc) {
    nvrtc.error().message = fmt::format(
        "NVRTC: none among {}: install it (Debian: cuda-nvrtc-13-0) or add its folder "
        "to LD_LIBRARY_PATH",
        nvrtc.error().message);
  }
  return nvrtc;
}

}  // namespace overlaptune::kernels
