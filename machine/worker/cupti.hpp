#pragma once
// CUPTI's activity API, found and loaded at run time: a machine without it still runs. This header
// includes no header of CUDA.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "machine/worker/gpu_record.hpp"

struct CUctx_st;

namespace overlaptune::cuda {

/// The places where libcupti is looked for, in this order: what the dynamic linker finds, then
/// CUDA's default folders.
[[nodiscard]] std::vector<std::string> cupti_libraries();

/// The part of libcupti that a `Tracer` needs. Calls that fail throw `Failure`
/// (`machine_unavailable`) with the call, the status and what can be done. The library is never
/// unloaded, because it has threads of its own.
class Cupti {
 public:
  using RequestBuffer = void (*)(std::uint8_t** buffer, std::size_t* size, std::size_t* most);
  using CompleteBuffer = void (*)(CUctx_st* context, std::uint32_t stream, std::uint8_t* buffer,
                                  std::size_t size, std::size_t valid);

  /// The first of `libraries` that exists and has the version that this program was built for.
  /// Error (`machine_unavailable`): what is missing, and where.
  static Expected<Cupti> load(const std::vector<std::string>& libraries);
  ~Cupti();
  Cupti(Cupti&&) noexcept;
  Cupti& operator=(Cupti&&) noexcept;

  void register_callbacks(RequestBuffer request, CompleteBuffer complete) const;

  /// Starts recording kernels, copies and memory sets: all of them, or none if it fails.
  void enable() const;
  /// Stops recording all of them, and throws for the first one that could not be stopped.
  void disable() const;

  /// Hands every buffer to the callback before it returns, also those with unfinished records.
  void flush() const;

  /// Number of records since the last call for which CUPTI had no room.
  [[nodiscard]] std::size_t take_dropped() const;

  /// Appends the records of a buffer. Returns false if it could not be read to its end.
  [[nodiscard]] bool read(std::uint8_t* buffer, std::size_t valid,
                          std::vector<GpuRecord>& records) const;

 private:
  struct Calls;
  explicit Cupti(std::unique_ptr<Calls> calls);
  void check(const char* call, int status) const;

  std::unique_ptr<Calls> calls_;
};

}  // namespace overlaptune::cuda
