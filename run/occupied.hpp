#pragma once
// What it is to run on some of the SMs only: the others are busy.

#include <cstdint>

#include "run/handles.hpp"

namespace overlaptune::run {

/// While it lives, `sms` SMs have no shared memory left, of which any CTA takes some, for what
/// comes on `stream`: as if a collective held them, but without its traffic and heat. All kernels
/// that are going to run must have run before: to load one waits for everything else to end. Gives
/// up after `kLongest`, so that nothing can hang. The destructor waits for what is on `stream`.
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
