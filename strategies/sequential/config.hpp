#pragma once
// The config of `sequential`: a library GEMM, then the collective: the baseline, always a
// candidate.

#include <string_view>

#include "core/config/comm_ctas.hpp"
#include "core/config/field_types.hpp"
#include "core/config/transport.hpp"

namespace overlaptune {

/// A library GEMM on all SMs, and the collective after it, or before it where the op exchanges
/// first.
struct Sequential {
  static constexpr std::string_view name = "sequential";

  int comm_ctas = kNcclsChoice;  ///< CTAs of the collective; 0 with `copy_engine`
  Transport transport = Transport::ring;
  friend auto operator<=>(const Sequential&, const Sequential&) = default;

  /// The fields, in the order of the canonical line (core/config/config_fields.hpp).
  template <class Self, class Visit>
  static constexpr void each_field(Self& config, Visit&& visit) {
    visit(config_field::CommCtas{}, config.comm_ctas, Presence::printed);
    visit(config_field::Transport{}, config.transport, Presence::printed);
  }
};

}  // namespace overlaptune
