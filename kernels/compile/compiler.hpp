#pragma once
// The run-time compiler of generated kernels: CUDA C++ to a cubin, by NVRTC. It needs the libraries
// of NVRTC and its builtins, which are loaded at run time (nvrtc.hpp). It needs no GPU, no driver,
// no nvcc and no files: sources include only headers that are part of the program
// (device_headers.hpp).

#include <cstdint>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "kernels/compile/nvrtc.hpp"

namespace overlaptune::kernels {

/// One kernel to be compiled: a source, the name of a kernel in it, and, where that is a template,
/// its arguments.
struct KernelSource {
  std::string name{};
  std::string text{};
  std::vector<std::string> arguments{};

  friend bool operator==(const KernelSource&, const KernelSource&) = default;
};

/// The resources that a thread or block takes, as ptxas reports them. For a source with several
/// kernels, the largest value of each.
struct CubinProperties {
  std::int64_t registers = 0;
  std::int64_t spill_bytes = 0;          ///< stores and loads of spilled registers, as instructions
  std::int64_t local_bytes = 0;          ///< stack a thread, spilled registers included
  std::int64_t static_shared_bytes = 0;  ///< shared memory a block

  friend bool operator==(const CubinProperties&, const CubinProperties&) = default;
};

struct Cubin {
  std::string bytes{};
  std::string symbol{};  ///< the kernel's name in it
  CubinProperties properties{};
  /// Lines of the compiler that warn or report a cost (serialised wgmma, an ignored setmaxnreg).
  std::vector<std::string> warnings{};

  friend bool operator==(const Cubin&, const Cubin&) = default;
};

/// The kernel as C++ names it: `gemm`, or `gemm<Tile{.block_m=128,.stages=4},IntoC<1>>`.
[[nodiscard]] std::string to_string(const KernelSource& source);

class Compiler {
 public:
  /// Loads NVRTC. Error (`machine_unavailable`): there is none.
  [[nodiscard]] static Expected<Compiler> load(
      const std::vector<std::string>& libraries = nvrtc_libraries());

  /// Compiles for an `architecture` such as `sm_80` or `sm_90a`. Several threads may compile at
  /// once. Error (`bad_input`): one line with the kernel, the architecture, and the compiler's
  /// first lines.
  [[nodiscard]] Expected<Cubin> compile(const KernelSource& source,
                                        const std::string& architecture) const;

  /// Error (`bad_input`): this NVRTC does not know the architecture.
  [[nodiscard]] Expected<void> check_architecture(const std::string& architecture) const;

  /// The key of a cache entry: one text with everything that decides what `compile` returns.
  [[nodiscard]] std::string key(const KernelSource& source, const std::string& architecture) const;

  /// The version of NVRTC, such as `13.0`.
  [[nodiscard]] const std::string& version() const { return version_; }

 private:
  Compiler(const Nvrtc& nvrtc, std::string version) : nvrtc_(nvrtc), version_(std::move(version)) {}

  Nvrtc nvrtc_;
  std::string version_;
};

/// The key of an entry that serves every NVRTC, and a process without one: it was compiled ahead.
[[nodiscard]] std::string key_of_any_nvrtc(const KernelSource& source,
                                           const std::string& architecture);

/// The properties in a log of `--ptxas-options=-v`. Error (`bad_input`): the log names no kernel.
[[nodiscard]] Expected<CubinProperties> parse_properties(const std::string& log);

}  // namespace overlaptune::kernels
