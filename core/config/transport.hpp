#pragma once
// How the bytes of a collective move between the GPUs.

#include <array>
#include <cstdint>
#include <string_view>

#include "core/base/names.hpp"
#include "core/problem.hpp"

namespace overlaptune {

enum class Transport {
  ring,         ///< NCCL's rings
  symmetric,    ///< NCCL's kernels on symmetric windows
  copy_engine,  ///< copy engines (run/exchange/copies.hpp)
  peer_access,  ///< an overlaptune kernel whose CTAs load from the peers' memory, or store into it
                ///< (kernels/peer_exchange.hpp, kernels/peer_push.hpp)
};

template <>
struct NamesOf<Transport> {
  static constexpr std::string_view what = "transport";
  static constexpr std::array<Named<Transport>, 4> all{{{Transport::ring, "ring"},
                                                        {Transport::symmetric, "symmetric"},
                                                        {Transport::copy_engine, "copy_engine"},
                                                        {Transport::peer_access, "peer_access"}}};
};

/// Whether an NCCL collective moves the bytes, whose time is one curve over its bytes.
[[nodiscard]] constexpr bool is_nccls(Transport transport) {
  return transport == Transport::ring || transport == Transport::symmetric;
}

/// Copy engines cut a larger exchange into pieces of this many bytes, unless it is a wave group.
inline constexpr std::int64_t kCopyPieceBytes = std::int64_t{1} << 24;

/// Whether a transport can carry a collective: NCCL 2.28 has no symmetric kernel for all_to_all,
/// and copy engines do not add.
[[nodiscard]] constexpr bool serves(Transport transport, Collective collective) {
  if (transport == Transport::symmetric) return collective != Collective::all_to_all;
  return transport != Transport::copy_engine || collective == Collective::all_to_all ||
         collective == Collective::all_gather;
}

}  // namespace overlaptune
