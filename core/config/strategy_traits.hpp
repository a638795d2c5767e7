#pragma once
// The side of a strategy that is in `core/`: its properties and its rules. The config of a strategy
// is in core/<name>_config.hpp, its rules are in core/<name>_traits.hpp.

#include "core/base/enum_set.hpp"
#include "core/config/config.hpp"
#include "core/gpu.hpp"
#include "core/ops.hpp"

namespace overlaptune {

/// Where the kernels of a GEMM come from.
enum class GemmFamily {
  library,    ///< cuBLASLt
  generated,  ///< the generated GEMM, compiled at run time for a tile
};

/// The needs of a strategy: abilities of a platform beyond the transports of its configs.
enum class Need {
  peer_memory,  ///< the memory of peers, over links that are made for it
  queue,        ///< a generated GEMM that takes its work from a queue
};

/// The properties of a strategy. Code that has configs of any strategy asks for them, and never
/// which strategy it is.
struct StrategyTraits {
  Strategy strategy{};  ///< the table (core/config/strategies.hpp) fills it in
  GemmFamily gemm = GemmFamily::library;
  EnumSet<Op> ops{};
  EnumSet<Transport> transports{};
  EnumSet<Need> needs{};
  int least_ctas = 0;  ///< 1 where 0 would mean nothing
  /// Transports by which the GEMM's own kernel exchanges: a trace shows no collective beside it.
  EnumSet<Transport> in_gemm{};
  /// Transports by which rows are only copied: a machine needs no collective for them.
  EnumSet<Transport> copies{};
  /// A config names the CTAs and the transport of a collective, which can be probed.
  bool has_collective = true;
  /// Each wave group or chunk is one collective by `comm_ctas` CTAs, and a persistent GEMM leaves
  /// as many SMs.
  bool collective_per_group = true;
  /// The tiles that run together have panels of all row blocks, not of one.
  bool across_row_blocks = false;
  /// The limit of a tile's elements, where the kernel keeps more than sums in registers; null: as
  /// for every tile.
  int GpuLimits::*largest_area = nullptr;
};

inline constexpr EnumSet<Op> kAllOps = [] {
  EnumSet<Op> all;
  for (const OpTraits& row : kOps) all.insert(row.op);
  return all;
}();

/// The properties and rules of the strategy whose configs have type `Own`. A specialization has
///
///     static constexpr StrategyTraits row;
///     static Expected<void> check(const Own&);
///     static Expected<void> check(const Problem&, const Own&);
///     static … work(const Problem&, const Own&);
///
/// The first `check` says whether the fields go together, beyond what `row` says. The second says
/// whether a config that passes the first fits a problem. `work` returns the parts of a legal
/// config, as `TiledWork` or `ChunkedWork` (core/config/work_parts.hpp).
///
/// A strategy whose configs have wave groups also has
///
///     static int divided(const Problem&);
///     static std::vector<Share> shares(const Problem&, const Own&);
///     static void fit(const Problem&, Own&, std::span<const Share>, int sms);
///
/// `shares` says the wave groups of a legal config without sizes (core/config/shares.hpp); they add
/// up to `divided` wholes. `fit` gives a config the wave groups of shares for a problem, as near to
/// them as legal cuts are, and a swizzle that the problem has panels for. `sms`: SMs of a wave.
template <class Own>
struct TraitsOf;

}  // namespace overlaptune
