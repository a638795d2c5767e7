#pragma once
// The values of a document as JSON (docs/database.md, json/fields.hpp). Reading checks the rules of
// db/rules.hpp at the place.

#include "db/impl.hpp"
#include "db/rules.hpp"
#include "json/fields.hpp"
#include "json/probe_forms.hpp"

namespace overlaptune::db {

using Json = nlohmann::ordered_json;

/// Format of documents. 1: a config is an object with every field of every strategy. 2: a config is
/// its canonical line.
inline constexpr std::int64_t kFormatVersion = 3;

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

inline constexpr Checked kProblem{Object(kProblemFields)};
inline constexpr Object kTile(kTileFields);
inline constexpr Object kSummary(kSummaryFields);
inline constexpr Object kConditions(kConditionsFields);

inline constexpr Object kGemmProbe(Field{"m", &GemmProbe::m}, Field{"n", &GemmProbe::n},
                                   Field{"k", &GemmProbe::k}, Field{"dtype", &GemmProbe::elements},
                                   spliced(&GemmProbe::tile, kTile),
                                   Field{"swizzle", &GemmProbe::swizzle},
                                   Field{"sms", &GemmProbe::sms});
inline constexpr auto kProbes = probe_forms(kGemmProbe);

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

inline constexpr Checked kMeasurement{Object(
    field("probe", &Measurement::probe, ProbeForm{}), field("time", &Measurement::time, kSummary),
    field("collective_time", &Measurement::collective_time, kSummary),
    field("library_tile", &Measurement::library_tile, kTile),
    spliced(&Measurement::conditions, kConditions))};
inline constexpr Checked kLayerGemm{
    Object(Field{"model", &LayerGemm::model}, Field{"product", &LayerGemm::product},
           Field{"parallelism", &LayerGemm::parallelism}, Field{"tokens", &LayerGemm::tokens},
           Field{"times_per_pass", &LayerGemm::times_per_pass},
           field("problem", &LayerGemm::problem, kProblem))};
inline constexpr Object kSpeedupInPhase(kSpeedupInPhaseFields);
inline constexpr Checked kPhaseResult{
    Object(field("problem", &PhaseResult::problem, kProblem), Field{"launch", &PhaseResult::launch},
           field("config", &PhaseResult::config, ConfigForm{}), Field{"phase", &PhaseResult::phase},
           Field{"verdict", &PhaseResult::verdict}, Field{"reason", &PhaseResult::reason},
           field("measured", &PhaseResult::measured, kSummary),
           Field{"sequential_us", &PhaseResult::sequential},
           field("speedup", &PhaseResult::speedup, kSpeedupInPhase),
           spliced(&PhaseResult::conditions, kConditions))};
inline constexpr Object kSpeedup(kSpeedupFields);
inline constexpr Checked kCandidate{Object(
    field("problem", &Candidate::problem, kProblem), Field{"launch", &Candidate::launch},
    field("config", &Candidate::config, ConfigForm{}), Field{"origin", &Candidate::origin},
    Field{"rank_by_model", &Candidate::rank_by_model}, Field{"predicted_us", &Candidate::predicted},
    Field{"verdict", &Candidate::verdict}, Field{"reason", &Candidate::reason},
    field("measured", &Candidate::measured, kSummary),
    field("speedup", &Candidate::speedup, kSpeedup), spliced(&Candidate::conditions, kConditions))};

[[nodiscard]] Json to_json(const Platform& platform);  ///< with its fingerprint
[[nodiscard]] Json to_json(const StoredRun& run, RunKind kind, const std::string& platform);
[[nodiscard]] Json to_json(const StoredWinner& stored, const std::string& platform,
                           const std::string& run);

[[nodiscard]] Platform platform_of(const JsonReader& at);
/// Without its platform, which the document names by fingerprint.
[[nodiscard]] StoredRun run_of(const JsonReader& at, RunKind kind);
/// Without its platform and run.
[[nodiscard]] StoredWinner winner_of(const JsonReader& at);

}  // namespace overlaptune::db
