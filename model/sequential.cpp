// `sequential`: the library's GEMM on all SMs, then (for all_gather_gemm: after) the collective.

#include <algorithm>

#include "model/strategy.hpp"

namespace overlaptune {

Expected<Prediction> predict_sequential(const Model::Parts& parts, const Problem& problem,
                                        const Config& config, Launch launch) {
  const auto curve = probed_curve(parts, problem, config);
  if (!curve) return tl::make_unexpected(curve.error());
  const double collective = (**curve)(static_cast<double>(collective_bytes(problem).count));
  const double full_clock = parts.library.time(problem.m, problem.n, problem.k, parts.platform.sms);
  const double gemm =
      full_clock * clock_slowdown_in_turn(parts.clock, problem, company_of(parts, problem),
                                          full_clock, collective);
  const double start = parts.launch.start(launch);
  // Eager: the second kernel is submitted while the first runs.
  const bool gather = problem.op == Op::all_gather_gemm;
  const double submitted = launch == Launch::eager ? parts.launch.eager_submit : 0;
  const double gap = std::max(parts.launch.kernel_gap, submitted - (gather ? collective : gemm));

  Prediction prediction;
  prediction.gemm_alone = us(gemm);
  prediction.collective_alone = us(collective);
  prediction.time = us(start + gemm + gap + collective);
  GroupTimes group;
  if (gather) {
    group = {.group = 0, .ready = us(start), .start = us(start), .end = us(start + collective)};
    prediction.timeline.gemm_end = prediction.time;
  } else {
    group = {.group = 0,
             .ready = us(start + gemm),
             .start = us(start + gemm + gap),
             .end = prediction.time};
    prediction.timeline.gemm_end = us(start + gemm);
  }
  group.exposed = us(collective);
  prediction.timeline.groups = {group};
  return prediction;
}

void search_sequential(const Model::Parts& parts, const Problem& problem, Launch launch, Space,
                       BestConfigs& best) {
  auto offer = [&](int comm_ctas, Transport transport) {
    Config config{.strategy = Strategy::sequential, .comm_ctas = comm_ctas, .transport = transport};
    if (const auto prediction = predict_sequential(parts, problem, config, launch)) {
      best.offer({std::move(config), prediction->time});
    }
  };
  for (const Transport transport : {Transport::ring, Transport::symmetric}) offer(0, transport);
  for (const CollectiveKey& key :
       parts.collectives.overlap_settings(collective_of(problem.op), problem.ranks)) {
    if (is_librarys(key.transport)) offer(key.comm_ctas, key.transport);
  }
}

}  // namespace overlaptune
