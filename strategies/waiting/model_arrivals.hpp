#pragma once
// How the rows of A arrive for `waiting`, in microseconds: by copies, or by CTAs or tiles of the
// peers.

#include <cstddef>
#include <vector>

#include "model/clock_slowdown.hpp"
#include "model/contention_model.hpp"
#include "model/draw.hpp"
#include "model/model.hpp"
#include "model/parts.hpp"
#include "strategies/waiting/arrivals.hpp"

namespace overlaptune::waiting {

/// A group of rows whose columns travel in chunks, and those before it.
struct RowsSoFar {
  std::size_t group = 1;   ///< its number, from 1 on
  std::size_t groups = 1;  ///< all
  double bytes = 0;        ///< of the groups up to this one
};

/// The tiles of a rank's own rows, where they push them.
struct PushingTiles {
  double begin = 0;      ///< of the last wave of those that push
  double end = 0;        ///< of that wave
  double chunk_gap = 0;  ///< by which each chunk delays them
  double look = 0;       ///< by which each chunk delays a tile that waits for it
  double tile_time = 0;  ///< of a tile that waits
  int at_once = 1;       ///< `pushers_at_once`
};

/// How the rows travel: the part that is the same for every tile.
struct Arrivals {
  const ClassGemms* gemms = nullptr;
  CommSetting way{};
  double meet = 0;       ///< until the peers are ready
  double gap = 0;        ///< of each group: to start it, and its signal; where tiles push: behind
                         ///< the last piece, until the peer has it
  double chunk_gap = 0;  ///< of each further chunk of its columns
  double per_byte = 0;   ///< that a rank receives
  double per_byte_of_one = 0;  ///< where tiles push: if one CTA of each peer sent all
  double bytes = 0;            ///< that a rank receives
  Slowdown slowdown{};         ///< of the GEMM with the probed tile
  Feed feed{};
  BackgroundLoad background{};

  /// Time until the last of so many bytes has arrived as one piece.
  [[nodiscard]] double until(double received) const { return meet + gap + received * per_byte; }

  /// Time until a group has arrived in effect, where `chunks` of the columns arrive one after the
  /// other, each of all groups: a tile that begins then, and takes `tile_time` by so many CTAs,
  /// finds each chunk when it needs it. One that begins earlier ends no sooner.
  [[nodiscard]] double until(const RowsSoFar& last, int chunks, double tile_time, int ctas) const;

  /// The same for rows that tiles push, of all groups at once.
  [[nodiscard]] double until_pushed(const PushingTiles& tiles, int chunks) const;

  [[nodiscard]] bool by_tiles() const { return tiles_push(way.transport, way.comm_ctas); }
};

/// Error: what the rows travel by was never probed.
[[nodiscard]] Expected<Arrivals> arrivals_of(const Model::Parts& parts, const Problem& problem,
                                             const CommSetting& way);

/// Every way that was probed for so many ranks, and tiles that push where CTAs that push were.
[[nodiscard]] std::vector<CommSetting> ways_of(const Model::Parts& parts, int ranks);

}  // namespace overlaptune::waiting
