#pragma once
// Occupied SMs: a kernel can be timed on some of the SMs, while the others are busy.

#include <cstdint>

#include "run/handles.hpp"

namespace overlaptune::run {

/// While the object lives, `sms` SMs take no CTA of the work that is enqueued on `stream`, because
/// all their shared memory is taken and every CTA needs some. The work runs as if a collective held
/// those SMs, but without its traffic and heat. Kernels of this work must have run before, because
/// loading a kernel waits for everything else to end. The SMs are free again after `kLongest` at
/// the latest, so nothing can hang. The destructor waits for the work on `stream`.
class Occupied {
 public:
  static constexpr std::int64_t kLongest = 2'000'000'000;  // ns

  Occupied(cudaStream_t stream, int sms);
  ~Occupied();
  Occupied(const Occupied&) = delete;
  Occupied& operator=(const Occupied&) = delete;

 private:
  cudaStream_t stream_;
  Stream beside_{};
  DeviceMemory flag_{};
};

}  // namespace overlaptune::run
