#pragma once
// The values of a document as JSON (docs/database.md, json/fields.hpp). Reading checks the rules of
// db/rules.hpp at the place.

#include "db/impl.hpp"
#include "json/fields.hpp"

namespace overlaptune::db {

using Json = nlohmann::ordered_json;

/// Format of documents. 1: a config is an object with every field of every strategy. 2: a config is
/// its canonical line.
inline constexpr std::int64_t kFormatVersion = 3;

[[nodiscard]] Json to_json(const Platform& platform);  ///< with its fingerprint
[[nodiscard]] Json to_json(const StoredRun& run, RunKind kind, const std::string& platform);
[[nodiscard]] Json to_json(const Measurement& measurement);
[[nodiscard]] Json to_json(const LayerGemm& gemm);
[[nodiscard]] Json to_json(const PhaseResult& result);
[[nodiscard]] Json to_json(const Candidate& candidate);
[[nodiscard]] Json to_json(const StoredWinner& stored, const std::string& platform,
                           const std::string& run);

[[nodiscard]] Platform platform_of(const JsonReader& at);
/// Without its platform, which the document names by fingerprint.
[[nodiscard]] StoredRun run_of(const JsonReader& at, RunKind kind);
[[nodiscard]] Measurement measurement_of(const JsonReader& at);
[[nodiscard]] LayerGemm layer_gemm_of(const JsonReader& at);
[[nodiscard]] PhaseResult phase_result_of(const JsonReader& at);
[[nodiscard]] Candidate candidate_of(const JsonReader& at);
/// Without its platform and run.
[[nodiscard]] StoredWinner winner_of(const JsonReader& at);

}  // namespace overlaptune::db
