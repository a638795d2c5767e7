#include "strategies/chunked/model.hpp"

#include <algorithm>
#include <map>

#include "model/clock_slowdown.hpp"
#include "model/overlap.hpp"

namespace overlaptune {
namespace {

/// Whether the subset (docs/model.md) has this number of chunks. Above 6 it has only a few numbers:
/// the more chunks, the less one more changes.
bool in_subset(int chunks) {
  return chunks <= 6 || chunks == 8 || chunks == 12 || chunks == 16;
}

/// The collectives of chunks: the part that does not depend on the number of chunks.
struct ChunkCollectives {
  const ClassGemms& gemms;  ///< the GEMMs beside the collectives
  CollectiveKey key{};
  const Curve& curve;
  BackgroundLoad background{};
};

/// The times of the GEMMs and of the collectives, one of each for a chunk. Each chain runs alone
/// and without gaps.
struct Chains {
  std::vector<double> gemms{};
  std::vector<double> collectives{};
  double gemm_sum = 0;
  double collective_sum = 0;
};

Chains chains(const Model::Parts& parts, const Work& work, const ChunkCollectives& side,
              const Slowdown& slowdown) {
  const Problem& problem = work.problem();
  const int sms = parts.platform.sms - side.key.comm_ctas;
  const std::int64_t columns = exchanged_columns(problem);
  Chains result;
  std::map<std::int64_t, double> known;  // chunks have one of two sizes
  for (const std::int64_t block_rows : work.chunked().rows) {
    const std::int64_t m = block_rows * row_blocks(problem);
    auto [entry, fresh] = known.try_emplace(m, 0.0);
    if (fresh) {
      entry->second =
          side.gemms.library.time(row_blocks(problem), block_rows, problem.n, problem.k, sms);
    }
    result.gemms.push_back(entry->second);
    result.collectives.push_back(
        side.curve(static_cast<double>(m * columns * bytes_of(exchanged_dtype(problem)))));
    result.gemm_sum += result.gemms.back();
    result.collective_sum += result.collectives.back();
  }
  const double clock = clock_slowdown_beside(parts.clock, problem, side.background,
                                             {result.gemm_sum}, result.collective_sum, slowdown);
  for (double& gemm : result.gemms) gemm *= clock;
  result.gemm_sum *= clock;
  return result;
}

/// Where the op exchanges first, `overlap` returns the times of the GEMMs, because they are the
/// consumer. A timeline has the times of the collectives instead, which run back to back.
Timeline gather_timeline(const Timeline& gemms, double start) {
  Timeline timeline;
  timeline.gemm_end = gemms.groups.back().end;
  Microseconds from = us(start);
  for (const GroupTimes& gemm : gemms.groups) {
    GroupTimes group{.group = gemm.group, .ready = from, .start = from, .end = gemm.ready};
    Microseconds covered{};
    for (const GroupTimes& other : gemms.groups) {
      covered +=
          std::max(us(0), std::min(group.end, other.end) - std::max(group.start, other.start));
    }
    group.exposed = std::max(us(0), group.end - group.start - covered);
    timeline.groups.push_back(group);
    from = group.end;
  }
  return timeline;
}

Prediction predicted(const Model::Parts& parts, const Work& work, Launch launch,
                     const ChunkCollectives& side) {
  const Problem& problem = work.problem();
  const int chunks = work.config_as<Chunked>().chunks;
  const Slowdown slowdown =
      side.gemms.contention(side.key, static_cast<double>(collective_bytes(problem).count) / chunks,
                            problem.k, GemmFamily::library);
  const Chains chain = chains(parts, work, side, slowdown);
  const bool gather = traits_of(problem.op).exchanges_first;
  const double gap = parts.launch.kernel_gap;
  const OverlapRates rates{.producer_slowdown = gather ? slowdown.collective : slowdown.gemm,
                           .consumer_slowdown = gather ? slowdown.gemm : slowdown.collective,
                           .trigger = gap,
                           .gap = gap};
  // Eager: the host submits one GEMM and one collective for each chunk, and no chunk is produced
  // faster than that.
  const double submission = is_eager(launch) ? 2 * parts.launch.eager_submit : 0;
  std::vector<Piece> pieces;
  pieces.reserve(chain.gemms.size());
  for (std::size_t i = 0; i < chain.gemms.size(); ++i) {
    const double first = gather ? chain.collectives[i] : chain.gemms[i];
    const double second = gather ? chain.gemms[i] : chain.collectives[i];
    pieces.push_back(
        {.production = std::max(first + (i > 0 ? gap : 0), submission), .consumption = second});
  }
  const double start = parts.launch.start(launch);
  const Timeline timeline = overlap(start, pieces, rates);
  Prediction prediction;
  prediction.time = timeline.groups.back().end;
  prediction.gemm_alone = us(chain.gemm_sum);
  prediction.collective_alone = us(chain.collective_sum);
  prediction.timeline = gather ? gather_timeline(timeline, start) : timeline;
  return prediction;
}

}  // namespace

Expected<Prediction> ModelOf<Chunked>::predict(const Model::Parts& parts, const Work& work,
                                               Launch launch) const {
  const auto gemms = parts.gemms_of(work.problem().elements);
  if (!gemms) return error_of(gemms);
  const auto& config = work.config_as<Chunked>();
  const CollectiveKey key{work.collective(), work.problem().ranks, config.comm_ctas,
                          config.transport};
  const auto curve = parts.collectives.curve(key);
  if (!curve) return error_of(curve);
  return predicted(parts, work, launch,
                   {**gemms, key, **curve, background_of(parts, **gemms, work.problem())});
}

void ModelOf<Chunked>::search(const Model::Parts& parts, const Problem& problem, Launch launch,
                              Space space, BestConfigs& best) const {
  const auto gemms = parts.gemms_of(problem.elements);
  if (!gemms) return;
  const BackgroundLoad background = background_of(parts, **gemms, problem);
  const int most = most_chunks(problem);
  for (const CollectiveKey& key :
       parts.collectives.overlap_settings(collective_of(problem.op), problem.ranks)) {
    if (best.stopped()) break;
    const Curve& curve = *parts.collectives.find(key);
    // A lower bound for any number of chunks.
    const auto bytes = static_cast<double>(collective_bytes(problem).count);
    const double least = parts.launch.start(launch) + bytes * curve.least_time_per_byte(bytes);
    if (least >= best.limit()) continue;
    for (int chunks = 2; chunks <= most; ++chunks) {
      if (space == Space::subset && !in_subset(chunks)) continue;
      const auto work =
          Work::make(problem, Chunked{key.comm_ctas, chunks, key.transport}, parts.capabilities);
      if (!work) break;
      const Prediction prediction =
          predicted(parts, *work, launch, {**gemms, key, curve, background});
      best.offer({work->config(), prediction.time});
    }
  }
}

std::optional<Config> ModelOf<Chunked>::draw(const Problem& problem, const CommSetting& setting,
                                             Draws& draws) const {
  const int most = most_chunks(problem);
  if (most < 2 || !check(Chunked{setting.comm_ctas, most, setting.transport})) return std::nullopt;
  const int chunks = 2 + static_cast<int>(draws.dice.roll(static_cast<std::size_t>(most - 1)));
  return Chunked{setting.comm_ctas, chunks, setting.transport};
}

}  // namespace overlaptune
