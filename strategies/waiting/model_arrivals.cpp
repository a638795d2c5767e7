#include "strategies/waiting/model_arrivals.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <span>

namespace overlaptune::waiting {
namespace {

/// How the first of these collectives that was probed beside a GEMM, and the GEMM, slow each other.
Slowdown slowdown_like(std::span<const CollectiveKey> alike, const ClassGemms& gemms, double bytes,
                       std::int64_t k) {
  const auto known = std::find_if(alike.begin(), alike.end(), [&](const CollectiveKey& key) {
    return gemms.contention.knows_like(key);
  });
  if (known == alike.end()) return {};
  return gemms.contention(*known, bytes, k, GemmFamily::generated);
}

/// Sets the times of rows that copy engines send. Error: copies to a peer were never probed.
Expected<void> set_copies(const Model::Parts& parts, const Problem& problem, Arrivals& arrivals) {
  if (!parts.copies || parts.copies->points().size() < 2) {
    return bad_input(
        "model: no copies to a peer are stored for this platform: run `overlaptune probe` first");
  }
  // Starting a copy is part of `gap`, so only the time of a further byte is taken from the probes.
  const CurvePoint& most = parts.copies->points().back();
  const CurvePoint& less = *(parts.copies->points().end() - 2);
  arrivals.meet = parts.costs.push_meet.count();
  arrivals.gap = arrivals.chunk_gap = parts.costs.push_gap.count();
  arrivals.per_byte = (most.time - less.time) / (most.bytes - less.bytes);
  // An exchange by copy engines slows a GEMM as they do. (Its few CTAs move the rank's own part.)
  // Where it was not probed, another collective that fills the links stands for it. No GEMM slows
  // copies.
  const std::array<CollectiveKey, 3> alike{
      {{Collective::all_to_all, problem.ranks, kFewSms, Transport::copy_engine},
       {Collective::all_reduce, problem.ranks, 16, Transport::symmetric},
       {Collective::all_reduce, problem.ranks, 32, Transport::ring}}};
  arrivals.slowdown = slowdown_like(alike, *arrivals.gemms, arrivals.bytes, problem.k);
  return {};
}

/// Sets the times of rows that `ctas` CTAs of the peers store. Half of the time of the smallest
/// exchange goes by before the first piece, and half after the last one, when the GEMM has its
/// rows. Error: such an all_gather was never probed.
Expected<void> set_pushes(const Model::Parts& parts, const Problem& problem, int ctas,
                          Arrivals& arrivals) {
  const CollectiveKey key{Collective::all_gather, problem.ranks, ctas, Transport::peer_access};
  const auto curve = parts.collectives.curve(key);
  if (!curve) return error_of(curve);
  const double smallest = (**curve)(0);
  const double gap = std::min(parts.costs.peer_gap.count(), smallest);
  arrivals.meet = (smallest - gap) / 2;
  // A piece is a row block or a part of one. Between the two the curve is taken as a line.
  const double block = static_cast<double>(collective_bytes(problem).count) / (problem.ranks - 1);
  const double of_block = (**curve)(block);
  const double per_byte = (of_block - (**curve)(block / 2)) / (block / 2);
  arrivals.gap = gap + std::max(0.0, of_block - smallest - per_byte * block);
  const std::array<CollectiveKey, 2> alike{
      {key, {Collective::all_to_all, problem.ranks, ctas, Transport::peer_access}}};
  arrivals.slowdown = slowdown_like(alike, *arrivals.gemms, arrivals.bytes, problem.k);
  const double received = static_cast<double>(problem.ranks - 1) / problem.ranks;
  arrivals.gap *= arrivals.slowdown.collective;
  arrivals.chunk_gap = gap * arrivals.slowdown.collective;
  arrivals.per_byte = per_byte / received * arrivals.slowdown.collective;
  return {};
}

/// Sets the times of rows that tiles push. The links bring them as fast as from the CTAs that were
/// fastest, and from each tile as from each CTA where that was fastest. Half of the time of the
/// smallest exchange goes by behind the last piece, as behind one of such CTAs. Error: no
/// all_gather by peer access was probed.
Expected<void> set_tile_pushes(const Model::Parts& parts, const Problem& problem,
                               Arrivals& arrivals) {
  std::optional<double> fastest;
  for (const CollectiveKey& key :
       parts.collectives.overlap_settings(Collective::all_gather, problem.ranks)) {
    if (key.transport != Transport::peer_access) continue;
    const Curve& curve = **parts.collectives.curve(key);
    const double smallest = curve(0);
    const double received = static_cast<double>(problem.ranks - 1) / problem.ranks;
    const double per_byte = (curve(arrivals.bytes / received) - smallest) / arrivals.bytes;
    const double of_one = per_byte * key.comm_ctas;
    if (!fastest || of_one < arrivals.per_byte_of_one) arrivals.per_byte_of_one = of_one;
    if (fastest && per_byte >= *fastest) continue;
    fastest = per_byte;
    arrivals.per_byte = per_byte;
    arrivals.gap = smallest / 2;
  }
  if (fastest) return {};
  return bad_input(
      "model: no all-gathers by peer access are stored for this platform: run `overlaptune probe` "
      "first");
}

/// What a count at the peers takes; one comes after the other (docs/results/kernels.md, "Tiles that
/// push").
constexpr double kCount = 1;

}  // namespace

double Arrivals::until_pushed(const PushingTiles& tiles, int chunks) const {
  double latest = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const double part = (chunk + 1.0) / chunks;
    const double by_links = part * bytes * std::max(per_byte, per_byte_of_one / tiles.at_once);
    const double by_tiles = part * (tiles.end - tiles.begin) + (chunk + 1) * tiles.chunk_gap;
    const double by_counts = (chunk + 1) * kCount;
    const double pushed = tiles.begin + std::max({by_links, by_tiles, by_counts});
    latest = std::max(latest, pushed + gap - tiles.tile_time * needs_chunk_after(chunk, chunks, 1));
  }
  return latest;
}

double Arrivals::until(const RowsSoFar& last, int chunks, double tile_time, int ctas) const {
  const auto groups = static_cast<double>(last.groups);
  double latest = 0;
  for (int chunk = 0; chunk < chunks; ++chunk) {
    const double before = chunk == 0 ? 0 : groups * gap + (chunk - 1) * groups * chunk_gap;
    const double gaps = before + static_cast<double>(last.group) * (chunk == 0 ? gap : chunk_gap);
    const double received = (chunk * bytes + last.bytes) / chunks;
    const double arrived = meet + gaps + received * per_byte;
    latest = std::max(latest, arrived - tile_time * needs_chunk_after(chunk, chunks, ctas));
  }
  return latest;
}

Expected<Arrivals> arrivals_of(const Model::Parts& parts, const Problem& problem,
                               const CommSetting& way) {
  const auto gemms = parts.generated_gemms_of(problem.elements);
  if (!gemms) return error_of(gemms);
  Arrivals arrivals{.gemms = *gemms,
                    .way = way,
                    .bytes = static_cast<double>(collective_bytes(problem).count) *
                             (problem.ranks - 1) / problem.ranks,
                    .background = background_of(parts, **gemms, problem)};
  const auto set = way.transport == Transport::copy_engine ? set_copies(parts, problem, arrivals)
                   : arrivals.by_tiles() ? set_tile_pushes(parts, problem, arrivals)
                                         : set_pushes(parts, problem, way.comm_ctas, arrivals);
  if (!set) return error_of(set);
  arrivals.feed =
      (*gemms)->contention.feed()(*(*gemms)->generated, problem.k, arrivals.slowdown.gemm);
  return arrivals;
}

std::vector<CommSetting> ways_of(const Model::Parts& parts, int ranks) {
  std::vector<CommSetting> ways{{kNoCtas, Transport::copy_engine}};
  for (const CollectiveKey& key :
       parts.collectives.overlap_settings(Collective::all_gather, ranks)) {
    if (key.transport == Transport::peer_access) ways.push_back({key.comm_ctas, key.transport});
  }
  if (ways.size() > 1) ways.push_back({kTilesPush, Transport::peer_access});
  return ways;
}

}  // namespace overlaptune::waiting
