#include "model/model.hpp"

#include <optional>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "model/clock_slowdown.hpp"
#include "model/parts.hpp"
#include "model/strategy_model.hpp"

namespace overlaptune {
namespace {

std::vector<Measurement> with_gemms_of(Elements rate_class,
                                       std::span<const Measurement> measurements) {
  std::vector<Measurement> list;
  for (const Measurement& measurement : measurements) {
    const GemmProbe* gemm = gemm_of(measurement.probe);
    if (gemm != nullptr && rate_class_of(gemm->elements) == rate_class) list.push_back(measurement);
  }
  return list;
}

std::optional<Curve> copies_of(std::span<const Measurement> measurements,
                               const LaunchModel& launch) {
  constexpr double kLeastTime = 0.5;
  std::vector<CurvePoint> points;
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<CopyProbe>(&measurement.probe);
    if (probe == nullptr || probe->ctas > 0) continue;
    points.push_back({static_cast<double>(probe->bytes.count),
                      std::max(kLeastTime, measurement.time.median.count() - launch.replay)});
  }
  if (points.empty()) return std::nullopt;
  return Curve(std::move(points));
}

/// The last byte of a probe takes `signal` to be seen.
std::optional<double> store_rate_of(std::span<const Measurement> measurements,
                                    const LaunchModel& launch, double signal) {
  std::optional<double> rate;
  CopyProbe most;
  for (const Measurement& measurement : measurements) {
    const auto* probe = std::get_if<CopyProbe>(&measurement.probe);
    const double time = measurement.time.median.count() - launch.replay - signal;
    if (probe == nullptr || time <= 0) continue;
    if (probe->ctas == 0 ||
        std::pair(probe->ctas, probe->bytes) < std::pair(most.ctas, most.bytes)) {
      continue;
    }
    most = *probe;
    rate = static_cast<double>(probe->bytes.count) / time;
  }
  return rate;
}

/// The models of one rate class; `measurements` are those with its GEMMs. Error: too few GEMMs of
/// the library.
Expected<ClassGemms> fit_gemms(Elements rate_class, std::span<const Measurement> measurements,
                               Model::Parts& parts) {
  const int sms = parts.platform.sms;
  const auto constants = [&](const char* family) -> std::vector<double>& {
    return parts.constants[fmt::format("{} {}", to_string(rate_class), family)];
  };
  auto generated = GemmModel::fit(measurements, parts.launch, parts.clock, sms, parts.limits,
                                  &constants("generated"));
  auto library = LibraryGemmModel::fit(measurements, parts.launch, parts.clock, sms,
                                       generated ? &*generated : nullptr, &constants("library"));
  if (!library) return error_of(library);
  auto contention = ContentionModel::fit(measurements, parts.launch, parts.clock, parts.collectives,
                                         generated ? &*generated : nullptr, sms);
  ClassGemms gemms{.library = std::move(*library), .contention = std::move(contention)};
  if (generated) gemms.generated = std::move(*generated);
  return gemms;
}

}  // namespace

Model::Model(std::unique_ptr<const Parts> parts) : parts_(std::move(parts)) {}
Model::~Model() = default;
Model::Model(Model&&) noexcept = default;
Model& Model::operator=(Model&&) noexcept = default;

Expected<const ClassGemms*> Model::Parts::gemms_of(Elements elements) const {
  const auto found = gemms.find(rate_class_of(elements));
  if (found != gemms.end()) return &found->second;
  return bad_input("model: no GEMM of " + std::string(to_string(elements)) +
                   " is stored for this platform: run `overlaptune probe --dtype " +
                   std::string(to_string(elements)) + "` first");
}

Expected<const ClassGemms*> Model::Parts::generated_gemms_of(Elements elements) const {
  auto found = gemms_of(elements);
  if (!found || (*found)->generated) return found;
  return bad_input("model: no GEMM with a given tile is stored for this platform: probe it first");
}

Expected<Model> Model::fit(const Platform& platform, std::span<const Measurement> measurements,
                           FittedConstants known) {
  const auto launch = LaunchModel::fit(measurements);
  if (!launch) return error_of(launch);
  auto parts = std::make_unique<Parts>();
  parts->constants = std::move(known);
  parts->platform = platform;
  parts->capabilities = capabilities_of(platform);
  parts->limits = gpu_limits(platform.compute_capability);
  parts->launch = *launch;
  auto collectives = CollectiveModel::fit(measurements, *launch, parts->costs);
  if (!collectives) return error_of(collectives);
  parts->collectives = std::move(*collectives);
  parts->copies = copies_of(measurements, *launch);
  parts->store_rate = store_rate_of(measurements, *launch, parts->costs.store_signal.count());
  parts->clock = ClockModel::of(measurements);
  std::optional<Error> too_few;
  for (const ElementsTraits& elements : kElements) {
    if (elements.rate_class != elements.elements) continue;
    auto gemms =
        fit_gemms(elements.rate_class, with_gemms_of(elements.rate_class, measurements), *parts);
    if (gemms) {
      parts->gemms.emplace(elements.rate_class, std::move(*gemms));
    } else if (!too_few) {
      too_few = gemms.error();
    }
  }
  if (parts->gemms.empty()) return tl::make_unexpected(*too_few);
  parts->clock.fit(
      measurements,
      [&](const GemmProbe& probe) {
        const auto gemms = parts->gemms_of(probe.elements);
        return gemms ? (*gemms)->library.time(probe.m, probe.n, probe.k, platform.sms) : 0;
      },
      &parts->constants["clock"]);
  std::erase_if(parts->constants, [](const auto& fit) { return fit.second.empty(); });
  return Model(std::move(parts));
}

const Platform& Model::platform() const {
  return parts_->platform;
}

const FittedConstants& Model::constants() const {
  return parts_->constants;
}

Model Model::leaving(int free_sms) const {
  auto parts = std::make_unique<Parts>(*parts_);
  parts->platform.sms -= free_sms;
  parts->capabilities.sms -= free_sms;
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
  if (gemm == nullptr) {
    return bad_input("model: " + to_string(probe) + ": expected a collective or a GEMM");
  }
  const bool is_library = gemm->tile.is_library();
  const auto gemms =
      is_library ? parts_->gemms_of(gemm->elements) : parts_->generated_gemms_of(gemm->elements);
  if (!gemms) return error_of(gemms);
  const int sms = gemm->sms > 0 ? gemm->sms : parts_->platform.sms;
  const double full_clock = is_library ? (*gemms)->library.time(gemm->m, gemm->n, gemm->k, sms)
                                       : (*gemms)->generated->whole(*gemm, sms);
  const Problem problem{.m = gemm->m, .n = gemm->n, .k = gemm->k, .elements = gemm->elements};
  const double slowdown =
      clock_slowdown_in_turn(parts_->clock, problem, {}, {full_clock, gemm->tile}, 0);
  return us(parts_->launch.replay + full_clock * slowdown);
}

Expected<Prediction> Model::predict(const Problem& problem, const Config& config,
                                    Launch launch) const {
  const auto work = Work::make(problem, config, parts_->capabilities);
  if (!work) return error_of(work);
  return model_of(work->strategy()).predict(*parts_, *work, launch);
}

}  // namespace overlaptune
