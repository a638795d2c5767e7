#include "kernels/nvrtc.hpp"

#include <dlfcn.h>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace overlaptune::kernels {
namespace {

/// The name of a function that is not there, or null.
const char* find_all(void* library, Nvrtc& nvrtc) {
  const char* lacking = nullptr;
  const auto find = [&](auto& function, const char* name) {
    function = reinterpret_cast<std::decay_t<decltype(function)>>(dlsym(library, name));
    if (function == nullptr) lacking = name;
  };
  find(nvrtc.version, "nvrtcVersion");
  find(nvrtc.error_string, "nvrtcGetErrorString");
  find(nvrtc.supported_count, "nvrtcGetNumSupportedArchs");
  find(nvrtc.supported, "nvrtcGetSupportedArchs");
  find(nvrtc.create, "nvrtcCreateProgram");
  find(nvrtc.destroy, "nvrtcDestroyProgram");
  find(nvrtc.compile, "nvrtcCompileProgram");
  find(nvrtc.log_size, "nvrtcGetProgramLogSize");
  find(nvrtc.log, "nvrtcGetProgramLog");
  find(nvrtc.cubin_size, "nvrtcGetCUBINSize");
  find(nvrtc.cubin, "nvrtcGetCUBIN");
  return lacking;
}

/// NVRTC opens its builtins by name alone, and has no run path: what is not where the loader looks
/// must be there already.
void load_builtins(const Nvrtc& nvrtc) {
  Dl_info info{};
  int major = 0;
  int minor = 0;
  if (dladdr(reinterpret_cast<void*>(nvrtc.version), &info) == 0 || info.dli_fname == nullptr ||
      nvrtc.version(&major, &minor) != 0) {
    return;
  }
  const std::filesystem::path folder = std::filesystem::path(info.dli_fname).parent_path();
  const std::string name = fmt::format("libnvrtc-builtins.so.{}.{}", major, minor);
  // Where this fails NVRTC looks for itself, and says so if it finds none.
  dlopen((folder / name).c_str(), RTLD_NOW | RTLD_LOCAL);
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
  std::string unfit;
  for (const std::string& name : libraries) {
    void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    Nvrtc nvrtc;
    if (const char* lacking = find_all(library, nvrtc)) {
      unfit += fmt::format("; {} lacks {}", name, lacking);
      continue;
    }
    load_builtins(nvrtc);
    return nvrtc;
  }
  return tl::make_unexpected(
      Error{ErrorKind::machine_unavailable,
            fmt::format("NVRTC: none among {}{}: install it (Debian: cuda-nvrtc-13-0) or add its "
                        "folder to LD_LIBRARY_PATH",
                        fmt::join(libraries, ", "), unfit)});
}

}  // namespace overlaptune::kernels
