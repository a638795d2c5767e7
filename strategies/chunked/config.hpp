#pragma once
// The config of `chunked`: several library GEMMs and collectives on two streams.

#include <string_view>

#include "core/config/field_types.hpp"
#include "core/config/transport.hpp"

namespace overlaptune {

/// A library GEMM and the collective, each cut into `chunks` parts that run beside each other.
struct Chunked {
  static constexpr std::string_view name = "chunked";

  int comm_ctas = 0;  ///< CTAs of the collectives, and SMs that the GEMMs leave to them
  int chunks = 1;     ///< parts that the rows of each row block are cut into
  Transport transport = Transport::ring;
  friend auto operator<=>(const Chunked&, const Chunked&) = default;

  /// The fields, in the order of the canonical line (core/config/config_fields.hpp).
  template <class Self, class Visit>
  static constexpr void each_field(Self& config, Visit&& visit) {
    visit(config_field::CommCtas{}, config.comm_ctas, Presence::required);
    visit(config_field::Transport{}, config.transport, Presence::printed);
    visit(config_field::Chunks{}, config.chunks, Presence::if_not_default);
  }
};

}  // namespace overlaptune
