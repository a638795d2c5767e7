#pragma once
// CUPTI's activity API, found and loaded at run time: a machine without it still runs. Written so
// that this header needs none of CUDA's.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "machine/cuda/worker/gpu_record.hpp"

struct CUctx_st;

namespace overlaptune::cuda {

/// Where libcupti is looked for, in this order: what the dynamic linker finds, then CUDA's default
/// folders.
[[nodiscard]] std::vector<std::string> cupti_libraries();

/// The part of libcupti that a `Tracer` needs. Calls that fail throw `Failure`
/// (`machine_unavailable`) with the call, the status and what can be done. Once loaded the library
/// stays: it has threads of its own.
class Cupti {
 public:
  using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* most);
  using CompleteBuffer = void (*)(CUctx_st* context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t size, std::size_t valid);

  /// The first of `libraries` that is there and of the version that this program was built for.
  /// Error (`machine_unavailable`): what is missing where.
  static Expected<Cupti> load(const std::vector<std::string>& libraries);
  ~Cupti();
  Cupti(Cupti&&) noexcept;
  Cupti& operator=(Cupti&&) noexcept;

  void register_callbacks(RequestBuffer request, CompleteBuffer complete) const;

  /// Records of kernels, copies and memory sets from now on. All or nothing.
  void enable() const;
  /// Disables all of them, and throws for the first that could not be.
  void disable() const;

  /// Hands every buffer to the callback before it returns, those with unfinished records too.
  void flush() const;

  /// Records that CUPTI had no room for since the last call.
  [[nodiscard]] std::size_t take_dropped() const;

  /// Adds what stands in a buffer. False if it could not be read to its end.
  [[nodiscard]] bool read(std::uint8_t* buffer, std::size_t valid,
                          std::vector<GpuRecord>& records) const;

 private:
  struct Calls;
  explicit Cupti(std::unique_ptr<Calls> calls);
  void check(const char* call, int status) const;

  std::unique_ptr<Calls> calls_;
};

}  // namespace overlaptune::cuda
