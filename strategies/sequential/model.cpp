#include "strategies/sequential/model.hpp"

#include <algorithm>

#include "model/clock_slowdown.hpp"

namespace overlaptune {

Expected<Prediction> ModelOf<Sequential>::predict(const Model::Parts& parts, const Work& work,
                                                  Launch launch) const {
  const Problem& problem = work.problem();
  const auto& config = work.config_as<Sequential>();
  const auto gemms = parts.gemms_of(problem.elements);
  if (!gemms) return error_of(gemms);
  const auto curve = parts.collectives.curve(
      {work.collective(), problem.ranks, config.comm_ctas, config.transport});
  if (!curve) return error_of(curve);
  const double collective = (**curve)(static_cast<double>(collective_bytes(problem).count));
  const double full_clock =
      (*gemms)->library.time(problem.m, problem.n, problem.k, parts.platform.sms);
  const double gemm = full_clock * clock_slowdown_in_turn(parts.clock, problem,
                                                          background_of(parts, **gemms, problem),
                                                          {full_clock}, collective);
  const double start = parts.launch.start(launch);
  // Eager: the second kernel is submitted while the first runs.
  const bool gather = traits_of(problem.op).exchanges_first;
  const double submitted = is_eager(launch) ? parts.launch.eager_submit : 0;
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

void ModelOf<Sequential>::search(const Model::Parts& parts, const Problem& problem, Launch launch,
                                 Space /*space*/, BestConfigs& best) const {
  const auto offer = [&](int comm_ctas, Transport transport) {
    const auto work = Work::make(problem, Sequential{comm_ctas, transport}, parts.capabilities);
    if (!work) return;
    if (const auto prediction = predict(parts, *work, launch)) {
      best.offer({work->config(), prediction->time});
    }
  };
  offer(kNcclsChoice, Transport::ring);
  offer(kNcclsChoice, Transport::symmetric);
  offer(kNoCtas, Transport::copy_engine);
  for (const CollectiveKey& key :
       parts.collectives.overlap_settings(collective_of(problem.op), problem.ranks)) {
    offer(key.comm_ctas, key.transport);
  }
}

std::optional<Config> ModelOf<Sequential>::draw(const Problem& /*problem*/,
                                                const CommSetting& setting,
                                                Draws& /*draws*/) const {
  return Sequential{setting.comm_ctas, setting.transport};
}

}  // namespace overlaptune
