#include "model/model.hpp"

#include "model/parts.hpp"
#include "model/strategy.hpp"

namespace overlaptune {

Model::Model(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Expected<Model> Model::fit(const Platform& platform, std::span<const Measurement> measurements) {
  const auto launch = LaunchModel::fit(measurements);
  if (!launch) return tl::make_unexpected(launch.error());
  auto collectives = CollectiveModel::fit(measurements, *launch);
  if (!collectives) return tl::make_unexpected(collectives.error());
  ClockModel clock = ClockModel::of(measurements);
  auto tiled = GemmModel::fit(measurements, *launch, clock, platform.sms,
                              gpu_limits(platform.compute_capability));
  auto library = LibraryGemmModel::fit(measurements, *launch, clock, platform.sms);
  if (!library) return tl::make_unexpected(library.error());
  clock.fit(measurements, [&](const GemmProbe& probe) {
    return library->time(probe.m, probe.n, probe.k, platform.sms);
  });
  auto contention = ContentionModel::fit(measurements, *launch, clock, *collectives,
                                         tiled ? &*tiled : nullptr, platform.sms);

  auto parts = std::make_unique<Parts>();
  parts->platform = platform;
  parts->limits = gpu_limits(platform.compute_capability);
  parts->launch = *launch;
  parts->collectives = std::move(*collectives);
  parts->contention = std::move(contention);
  parts->clock = clock;
  parts->library = std::move(*library);
  if (tiled) parts->tiled = std::move(*tiled);
  return Model(std::move(parts));
}

Expected<Microseconds> Model::predict(const Probe& probe) const {
  if (const auto* collective = std::get_if<CollectiveProbe>(&probe)) {
    const CollectiveKey key{collective->collective, collective->ranks, collective->comm_ctas,
                            collective->transport};
    const Curve* curve = parts_->collectives.find(key);
    if (curve == nullptr) return bad_input("model: " + to_string(probe) + ": never probed");
    return us(parts_->launch.replay + (*curve)(static_cast<double>(collective->bytes.count)));
  }
  const auto* gemm = std::get_if<GemmProbe>(&probe);
  const bool ours = gemm != nullptr && !gemm->tile.is_library();
  if (gemm == nullptr || (ours && !parts_->tiled)) {
    return bad_input("model: " + to_string(probe) +
                     ": expected a collective, a library GEMM or, where these were probed, ours");
  }
  const int sms = gemm->sms > 0 ? gemm->sms : parts_->platform.sms;
  const double full_clock = ours ? parts_->tiled->whole(*gemm, sms)
                                 : parts_->library.time(gemm->m, gemm->n, gemm->k, sms);
  const Problem problem{.m = gemm->m, .n = gemm->n, .k = gemm->k};
  return us(parts_->launch.replay +
            full_clock * clock_slowdown_in_turn(parts_->clock, problem, {}, full_clock, 0));
}

Expected<Prediction> Model::predict(const Problem& problem, const Config& config,
                                    Launch launch) const {
  for (const StrategyModel& strategy : strategy_models()) {
    if (strategy.strategy == config.strategy) {
      return strategy.predict(*parts_, problem, config, launch);
    }
  }
  return bad_input("model: strategy " + std::string(to_string(config.strategy)) +
                   " cannot be predicted yet");
}

}  // namespace overlaptune
