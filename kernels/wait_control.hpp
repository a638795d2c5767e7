#pragma once
// How the waits of kernels end: all have the same time limit, and all end at once when one has.

#include <cstdint>

namespace overlaptune::kernels {

/// The word that a wait was for. kernels/device/waits.cu has the same numbers.
enum class Awaited : std::uint32_t {
  ready,    ///< a rank, that it has reached the plan; `index`: the rank
  counter,  ///< a wave group; `index`: its number
  done,     ///< the end of what the peers do here
  flag,     ///< a flag of a copy engine; `index`: the rank that raises it
  told,     ///< none: a peer says that one of its waits took too long
  aborted,  ///< none: the host ended all waits
};

/// In host memory that the GPU reads and writes, so that neither side needs a stream. The host
/// writes `limit` and may write `ended`; the first kernel whose wait takes too long writes the
/// other fields, then `ended`. kernels/device/waits.cu has the same struct.
struct WaitControl {
  std::uint32_t ended;  ///< not 0: no wait waits any more
  std::uint32_t limit;  ///< of each wait, in units of 2^20 ns
  std::uint32_t plan;   ///< number of the plan whose wait ended first ...
  std::uint32_t what;   ///< `Awaited`
  std::uint32_t index;
  std::uint32_t waited;  ///< in units of 2^20 ns
  std::uint32_t unused[2];
};

}  // namespace overlaptune::kernels
