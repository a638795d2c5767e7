// `chunked`: the rows of every row block in nearly equal parts; library GEMMs with an SM budget on
// one stream, collectives on another.

#include <map>

#include "core/tiling.hpp"
#include "model/overlap.hpp"
#include "model/strategy.hpp"

namespace overlaptune {
namespace {

/// The documented subset: fine where few chunks make a difference, coarse beyond.
bool in_subset(int chunks) {
  return chunks <= 6 || chunks == 8 || chunks == 12 || chunks == 16;
}

/// What is the same however many chunks there are.
struct Exchange {
  const Curve& curve;
  const Company& company;
};

/// Both chains, each alone, without gaps.
struct Chains {
  std::vector<double> gemms{};
  std::vector<double> collectives{};
  double gemm_sum = 0;
  double collective_sum = 0;
};

Chains chains(const Model::Parts& parts, const Problem& problem, const Exchange& exchange, int sms,
              const std::vector<std::int64_t>& rows, const Slowdown& slowdown) {
  const std::int64_t columns = problem.op == Op::all_gather_gemm ? problem.k : problem.n;
  Chains result;
  std::map<std::int64_t, double> known;  // chunks have one of two sizes
  for (const std::int64_t block_rows : rows) {
    const std::int64_t m = block_rows * row_blocks(problem);
    auto [entry, fresh] = known.try_emplace(m, 0.0);
    if (fresh) {
      entry->second =
          parts.library.time(row_blocks(problem), block_rows, problem.n, problem.k, sms);
    }
    result.gemms.push_back(entry->second);
    result.collectives.push_back(exchange.curve(static_cast<double>(m * columns * kElementBytes)));
    result.gemm_sum += result.gemms.back();
    result.collective_sum += result.collectives.back();
  }
  const double clock = clock_slowdown_beside(parts.clock, problem, exchange.company,
                                             result.gemm_sum, result.collective_sum, slowdown);
  for (double& gemm : result.gemms) gemm *= clock;
  result.gemm_sum *= clock;
  return result;
}

/// For all_gather_gemm `overlap` reports the GEMMs, as they consume: the collectives, back to back,
/// are what a timeline is about.
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

Prediction predict(const Model::Parts& parts, const Problem& problem, const Config& config,
                   Launch launch, const Exchange& exchange, const std::vector<std::int64_t>& rows) {
  const Slowdown slowdown = parts.contention(
      {collective_of(problem.op), problem.ranks, config.comm_ctas, config.transport},
      static_cast<double>(collective_bytes(problem).count) / config.chunks, problem.k,
      GemmFamily::library);
  const Chains chain =
      chains(parts, problem, exchange, parts.platform.sms - config.comm_ctas, rows, slowdown);
  const bool gather = problem.op == Op::all_gather_gemm;
  const double gap = parts.launch.kernel_gap;
  const OverlapRates rates{.producer_slowdown = gather ? slowdown.collective : slowdown.gemm,
                           .consumer_slowdown = gather ? slowdown.gemm : slowdown.collective,
                           .trigger = gap,
                           .gap = gap};
  // Eager: the host submits a GEMM and a collective a chunk, and no chunk can be produced faster.
  const double submission = launch == Launch::eager ? 2 * parts.launch.eager_submit : 0;
  std::vector<Piece> pieces;
  pieces.reserve(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
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

Expected<Prediction> predict_chunked(const Model::Parts& parts, const Problem& problem,
                                     const Config& config, Launch launch) {
  const auto curve = probed_curve(parts, problem, config);
  if (!curve) return tl::make_unexpected(curve.error());
  const auto rows = chunk_rows(problem, config.chunks);
  if (!rows) return tl::make_unexpected(rows.error());
  if (config.comm_ctas < 1 || config.comm_ctas >= parts.platform.sms) {
    return bad_input("config: comm_ctas = " + std::to_string(config.comm_ctas) +
                     ": chunked needs 1 to " + std::to_string(parts.platform.sms - 1));
  }
  return predict(parts, problem, config, launch, {**curve, company_of(parts, problem)}, *rows);
}

void search_chunked(const Model::Parts& parts, const Problem& problem, Launch launch, Space space,
                    BestConfigs& best) {
  const Company company = company_of(parts, problem);
  const int most = most_chunks(problem);
  for (const CollectiveKey& key :
       parts.collectives.overlap_settings(collective_of(problem.op), problem.ranks)) {
    if (key.comm_ctas >= parts.platform.sms || !is_librarys(key.transport)) continue;
    if (best.stopped()) break;
    const Curve& curve = *parts.collectives.find(key);
    // However it is cut, the collective takes this long.
    const auto bytes = static_cast<double>(collective_bytes(problem).count);
    const double least = parts.launch.start(launch) + bytes * curve.least_time_per_byte(bytes);
    if (least >= best.limit()) continue;
    for (int chunks = 2; chunks <= most; ++chunks) {
      if (space == Space::subset && !in_subset(chunks)) continue;
      const auto rows = chunk_rows(problem, chunks);
      if (!rows) break;
      Config config{.strategy = Strategy::chunked,
                    .comm_ctas = key.comm_ctas,
                    .chunks = chunks,
                    .transport = key.transport};
      const Microseconds time =
          predict(parts, problem, config, launch, {curve, company}, *rows).time;
      best.offer({std::move(config), time});
    }
  }
}

}  // namespace overlaptune
