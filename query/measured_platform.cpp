#include "query/measured_platform.hpp"

#include <set>
#include <utility>
#include <variant>

#include <fmt/format.h>

#include "db/store.hpp"

namespace overlaptune {
namespace {

std::set<int> probed_ranks(const std::vector<Measurement>& measurements) {
  std::set<int> ranks;
  for (const Measurement& measurement : measurements) {
    const auto* collective = std::get_if<CollectiveProbe>(&measurement.probe);
    if (collective != nullptr) ranks.insert(collective->ranks);
  }
  return ranks;
}

/// The time of a GEMM or a collective alone, as the probe would measure it.
Expected<Microseconds> time_alone(const Expected<LearnedModel>& model, const Probe& probe) {
  if (!model) return error_of(model);
  return model->analytic().predict(probe);
}

}  // namespace

MeasuredPlatform::MeasuredPlatform(Platform platform, std::vector<Measurement> measurements)
    : platform_(std::move(platform)), measurements_(std::move(measurements)) {}

MeasuredPlatform MeasuredPlatform::of_database(const std::string& database,
                                               const std::string& platform) {
  const Store store(database, Access::read);
  const StoredPlatform stored = value_or_throw(store.platform(platform));
  MeasuredPlatform made(stored.platform, store.measurements(stored.id));
  made.stored_ = std::make_unique<AnswerSnapshot>(std::vector<std::filesystem::path>{database},
                                                  PlatformWish{.described = stored.platform},
                                                  system_database());
  return made;
}

MeasuredPlatform MeasuredPlatform::of_measurements(const Platform& platform,
                                                   std::vector<Measurement> measurements) {
  MeasuredPlatform made(platform, std::move(measurements));
  made.own_ = std::make_unique<Expected<LearnedModel>>(
      learned_model(made.platform_, made.measurements_, {}));
  return made;
}

const Expected<LearnedModel>& MeasuredPlatform::model() const {
  return stored_ ? stored_->model() : *own_;
}

Answer MeasuredPlatform::answer(const Problem& problem, Launch launch) const {
  if (stored_) return stored_->answer(problem, launch);
  const Unmeasured known{.platform = platform_,
                         .model = [this]() -> const Expected<LearnedModel>& { return model(); },
                         .why = "nothing was tuned"};
  return value_or_throw(answer_unmeasured(known, problem, {.launch = launch}));
}

Adviser MeasuredPlatform::adviser(Launch launch) const {
  return {.platform = platform_,
          .probed = probed_ranks(measurements_),
          .ask = [this, launch](const Problem& problem) { return answer(problem, launch); },
          .alone = [this](const Probe& probe) { return time_alone(model(), probe); }};
}

StepGrounds MeasuredPlatform::step_grounds() const {
  if (!model()) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("{}: {}: run `overlaptune probe` into this database first",
                              full_name(platform_), model().error().message));
  }
  return {.platform = platform_,
          .measurements = measurements_,
          .model = *model(),
          .ask = [this](const Problem& problem) { return answer(problem, Launch::graph); }};
}

}  // namespace overlaptune
