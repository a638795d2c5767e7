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
  const ClockModel clock = ClockModel::fit(measurements);
  auto tiled = GemmModel::fit(measurements, *launch, clock, platform.sms);
  auto library =
      LibraryGemmModel::fit(measurements, *launch, clock, platform.sms, tiled ? &*tiled : nullptr);
  if (!library) return tl::make_unexpected(library.error());
  auto contention = ContentionModel::fit(measurements, *launch, clock, *collectives);

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
