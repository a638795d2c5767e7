#pragma once
// The ranks of another program's communicator, and what all plans on it share.

#include "run/engine.hpp"

namespace overlaptune::run {

/// For the length of a call that GPU is the current one.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

[[nodiscard]] int device_of(ncclComm_t comm);

/// Whether the GPU has NVLink multicast and NCCL was not told (NCCL_NVLS_ENABLE=0) to leave it.
[[nodiscard]] bool multicast_is_on(int device);

struct Ranks {
  /// Collective. On the communicator's GPU, which is the current one.
  Ranks(ncclComm_t comm, bool multicast);
  /// Collective, for nobody's memory may go while another rank still reads it; but no rank waits
  /// longer than 10 s for one that is lost.
  ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] Engine engine() { return {world, library, generated, sms}; }

  int device;
  int sms;
  bool allow_multicast;
  World world;
  GemmLibrary library;
  GeneratedGemms generated{};
};

/// Collective: what each rank told, in order.
[[nodiscard]] std::vector<std::uint64_t> told(World& world, std::uint64_t mine);

}  // namespace overlaptune::run
