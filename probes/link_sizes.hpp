#pragma once
// Sizes of collectives that the link of a platform moves in reasonable time.

#include <cstdint>

#include "core/link.hpp"
#include "core/nodes.hpp"
#include "core/platform.hpp"

namespace overlaptune {

/// In bytes of the whole buffer, unless the name says otherwise.
struct LinkSizes {
  std::int64_t most = std::int64_t{1} << 30;
  std::int64_t beside_small = std::int64_t{1} << 20;  ///< beside a GEMM of the library
  std::int64_t beside_large = std::int64_t{64} << 20;
  std::int64_t beside_generated = std::int64_t{16} << 20;
  std::int64_t sustained_divisor = 1;  ///< by which sustained collectives are smaller
  int most_ctas = 32;
  int step = 2;  ///< factor from one size to the next
};

/// Whether NCCL sends through sockets, within a host or between nodes.
[[nodiscard]] inline bool has_sockets(const Platform& platform) {
  return is_link(platform.link, Link::socket) || platform.link == network_link("Socket");
}

/// NCCL moves a few GB/s over sockets. A few CTAs reach that. A collective beside a GEMM must not
/// outlast the few hundred GEMMs that surround it. The limit on a probe's cost bounds the sizes of
/// all other slow links (probes/cost_limit.hpp).
[[nodiscard]] inline LinkSizes link_sizes(const Platform& platform) {
  if (!has_sockets(platform)) return {};
  return {.most = std::int64_t{256} << 20,
          .beside_small = std::int64_t{256} << 10,
          .beside_large = std::int64_t{4} << 20,
          .beside_generated = std::int64_t{4} << 20,
          .sustained_divisor = 64,
          .most_ctas = 16,
          .step = 4};
}

}  // namespace overlaptune
