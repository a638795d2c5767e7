#include "db/json_values.hpp"

#include <fmt/format.h>

#include "json/probe_forms.hpp"

namespace overlaptune::db {
namespace {

/// A form of values for which there are rules.
template <class Form>
struct Checked {
  Form form;
  template <class AnyJson, class T>
  AnyJson write(const T& value) const {
    return form.template write<AnyJson>(value);
  }
  template <class T>
  void read(const JsonReader& at, T& value) const {
    form.read(at, value);
    if (const auto wrong = complaint(value)) at.fail(*wrong);
  }
};
template <class Form>
Checked(Form) -> Checked<Form>;

constexpr Checked kProblem{Object(kProblemFields)};
constexpr Object kTile(kTileFields);
constexpr Object kSummary(kSummaryFields);
constexpr Object kConditions(kConditionsFields);

constexpr Object kGemmProbe(Field{"m", &GemmProbe::m}, Field{"n", &GemmProbe::n},
                            Field{"k", &GemmProbe::k}, Field{"dtype", &GemmProbe::elements},
                            spliced(&GemmProbe::tile, kTile), Field{"swizzle", &GemmProbe::swizzle},
                            Field{"sms", &GemmProbe::sms});
constexpr auto kProbes = probe_forms(kGemmProbe);

/// A config is its canonical line.
struct ConfigForm {
  template <class Json>
  [[nodiscard]] static Json write(const Config& config) {
    return to_string(config);
  }
  static void read(const JsonReader& at, Config& config) {
    const std::string line = at.text();
    if (!read_canonical(line, config)) at.fail(why_not_canonical(line));
  }
};

/// The fields of a probe beside its `kind`.
struct ProbeForm {
  template <class AnyJson>
  static AnyJson write(const Probe& probe) {
    AnyJson object = AnyJson::object();
    visit_alternative(kProbes, probe, [&](auto kind, const auto& form, const auto& value) {
      object["kind"] = kind;
      form.put(object, value);
    });
    return object;
  }
  static void read(const JsonReader& at, Probe& probe) {
    const JsonReader kind = at["kind"];
    const auto place = [&, name = kind.text()](std::string_view alternative) {
      return alternative == name ? std::optional(at) : std::nullopt;
    };
    if (!read_alternative(kProbes, probe, place)) {
      kind.fail("expected one of " + names_of(kProbes));
    }
  }
};

constexpr Object kPlatform(kPlatformFields);
constexpr Object kProvenance(kProvenanceFields);
constexpr Checked kMeasurement{Object(
    field("probe", &Measurement::probe, ProbeForm{}), field("time", &Measurement::time, kSummary),
    field("collective_time", &Measurement::collective_time, kSummary),
    field("library_tile", &Measurement::library_tile, kTile),
    spliced(&Measurement::conditions, kConditions))};
constexpr Checked kLayerGemm{
    Object(Field{"model", &LayerGemm::model}, Field{"product", &LayerGemm::product},
           Field{"parallelism", &LayerGemm::parallelism}, Field{"tokens", &LayerGemm::tokens},
           Field{"times_per_pass", &LayerGemm::times_per_pass},
           field("problem", &LayerGemm::problem, kProblem))};
constexpr Object kSpeedupInPhase(kSpeedupInPhaseFields);
constexpr Checked kPhaseResult{
    Object(field("problem", &PhaseResult::problem, kProblem), Field{"launch", &PhaseResult::launch},
           field("config", &PhaseResult::config, ConfigForm{}), Field{"phase", &PhaseResult::phase},
           Field{"verdict", &PhaseResult::verdict}, Field{"reason", &PhaseResult::reason},
           field("measured", &PhaseResult::measured, kSummary),
           Field{"sequential_us", &PhaseResult::sequential},
           field("speedup", &PhaseResult::speedup, kSpeedupInPhase),
           spliced(&PhaseResult::conditions, kConditions))};
constexpr Object kSpeedup(kSpeedupFields);
constexpr Checked kCandidate{Object(
    field("problem", &Candidate::problem, kProblem), Field{"launch", &Candidate::launch},
    field("config", &Candidate::config, ConfigForm{}), Field{"origin", &Candidate::origin},
    Field{"rank_by_model", &Candidate::rank_by_model}, Field{"predicted_us", &Candidate::predicted},
    Field{"verdict", &Candidate::verdict}, Field{"reason", &Candidate::reason},
    field("measured", &Candidate::measured, kSummary),
    field("speedup", &Candidate::speedup, kSpeedup), spliced(&Candidate::conditions, kConditions))};
/// All of a winner but its overlap fraction.
constexpr Object kWinner(field("candidate", &Winner::candidate, kCandidate),
                         Field{"sequential_us", &Winner::sequential},
                         Field{"gemm_alone_us", &Winner::gemm_alone},
                         Field{"collective_alone_us", &Winner::collective_alone});

}  // namespace

Json to_json(const Platform& platform) {
  Json object{{"fingerprint", fingerprint(platform)}};
  kPlatform.put(object, platform);
  return object;
}

Platform platform_of(const JsonReader& at) {
  auto platform = read_as<Platform>(kPlatform, at);
  if (at["fingerprint"].text() != fingerprint(platform)) {
    at["fingerprint"].fail(
        fmt::format("the other fields give {}; some were edited", fingerprint(platform)));
  }
  return platform;
}

Json to_json(const StoredRun& run, RunKind kind, const std::string& platform) {
  Json object{{"uid", run.uid}, {"platform", platform}};
  kProvenance.put(object, run.provenance);
  object["finished_at"] = written<Json>(Plain{}, run.finished_at);
  if (kind == RunKind::tuning) object["request"] = run.request;
  return object;
}

StoredRun run_of(const JsonReader& at, RunKind kind) {
  StoredRun run;
  run.uid = at["uid"].text();
  if (db::uid_complaint(run.uid)) at["uid"].fail("expected 32 hexadecimal digits");
  kProvenance.read(at, run.provenance);
  if (run.provenance.started_at.empty()) at["started_at"].fail("expected a time, not nothing");
  read_into(Plain{}, at["finished_at"], run.finished_at);
  if (const auto wrong = complaint(run)) at.fail(*wrong);
  if (kind == RunKind::tuning) run.request = at["request"].text();
  return run;
}

Json to_json(const Measurement& measurement) {
  return kMeasurement.write<Json>(measurement);
}

Measurement measurement_of(const JsonReader& at) {
  return read_as<Measurement>(kMeasurement, at);
}

Json to_json(const LayerGemm& gemm) {
  return kLayerGemm.write<Json>(gemm);
}

LayerGemm layer_gemm_of(const JsonReader& at) {
  return read_as<LayerGemm>(kLayerGemm, at);
}

Json to_json(const PhaseResult& result) {
  return kPhaseResult.write<Json>(result);
}

PhaseResult phase_result_of(const JsonReader& at) {
  return read_as<PhaseResult>(kPhaseResult, at);
}

Json to_json(const Candidate& candidate) {
  return kCandidate.write<Json>(candidate);
}

Candidate candidate_of(const JsonReader& at) {
  return read_as<Candidate>(kCandidate, at);
}

Json to_json(const StoredWinner& stored, const std::string& platform, const std::string& run) {
  Json object{{"platform", platform}, {"run", run}, {"validated_at", stored.validated_at}};
  kWinner.put(object, stored.winner);
  object["overlap_fraction"] = written<Json>(Plain{}, stored.winner.overlap_fraction);
  return object;
}

StoredWinner winner_of(const JsonReader& at) {
  StoredWinner stored;
  stored.validated_at = at["validated_at"].text();
  if (const auto wrong = time_complaint("time", stored.validated_at)) {
    at["validated_at"].fail(*wrong);
  }
  kWinner.read(at, stored.winner);
  // Exports of programs that traced no winner have no such field.
  if (at.has("overlap_fraction")) stored.winner.overlap_fraction = at["overlap_fraction"].number();
  if (const auto wrong = complaint(stored.winner)) at.fail(*wrong);
  return stored;
}

}  // namespace overlaptune::db
