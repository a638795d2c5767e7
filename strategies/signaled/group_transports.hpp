#pragma once
// How the wave groups of a config move, and how their collectives wait for their signals.

#include <array>
#include <string_view>

#include "core/base/names.hpp"
#include "core/config/transport.hpp"

namespace overlaptune {

/// How the collective of a wave group waits for its signal.
enum class Wait {
  driver,  ///< cuStreamWaitValue32
  kernel,  ///< a kernel that polls the signal for a bounded time and takes a small part of an SM
};

template <>
struct NamesOf<Wait> {
  static constexpr std::string_view what = "wait";
  static constexpr std::array<Named<Wait>, 2> all{
      {{Wait::driver, "driver"}, {Wait::kernel, "kernel"}}};
};

/// How wave groups move. The last group may move differently, because the GEMM needs no SMs any
/// more.
struct GroupTransports {
  Transport beside_gemm = Transport::ring;  ///< every group except the last one
  Transport last = Transport::ring;
  friend auto operator<=>(const GroupTransports&, const GroupTransports&) = default;
};

[[nodiscard]] constexpr GroupTransports all_groups_by(Transport transport) {
  return {transport, transport};
}

/// Symmetric windows while the GEMM runs; for the last group a ring with NCCL's own choice of CTAs.
inline constexpr GroupTransports kSymmetricThenRing{Transport::symmetric, Transport::ring};

template <>
struct NamesOf<GroupTransports> {
  static constexpr std::string_view what = "transport";
  static constexpr std::array<Named<GroupTransports>, 5> all{
      {{all_groups_by(Transport::ring), "ring"},
       {all_groups_by(Transport::symmetric), "symmetric"},
       {all_groups_by(Transport::copy_engine), "copy_engine"},
       {kSymmetricThenRing, "symmetric_then_ring"},
       {all_groups_by(Transport::peer_access), "peer_access"}}};
};

}  // namespace overlaptune
