#pragma once
// The ranks of another program's communicator, and the parts that all plans on it share.

#include "run/captured_graphs.hpp"
#include "run/engine.hpp"

namespace overlaptune::run {

/// Makes a GPU the current one for the length of a call.
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

/// Whether the GPU has NVLink multicast, and the environment does not forbid it to NCCL
/// (NCCL_NVLS_ENABLE=0).
[[nodiscard]] bool multicast_is_on(int device);

struct Ranks {
  /// Collective. The communicator's GPU must be the current one.
  Ranks(ncclComm_t comm, bool multicast);
  /// Collective, because no rank may free memory that another rank still reads. A rank waits at
  /// most 10 s for one that is lost.
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
  CapturedGraphs graphs{};  ///< graphs that hold plans on these ranks
};

/// Collective: the value `mine` of every rank, in the order of the ranks.
[[nodiscard]] std::vector<std::uint64_t> told(World& world, std::uint64_t mine);

}  // namespace overlaptune::run
