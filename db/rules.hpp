#pragma once
// What may be stored. The same rules hold for what is added, imported and read back, so that nobody
// who gets a value from a database has to fear a NaN, a negative size or a winner without a time.

#include <optional>
#include <string>
#include <string_view>

#include "core/candidate.hpp"
#include "core/layer_gemm.hpp"
#include "core/measurement.hpp"
#include "core/platform.hpp"

namespace overlaptune::db {

/// What is wrong with a value, as "FIELD is VALUE; expected …"; absent if nothing is.
using Complaint = std::optional<std::string>;

/// Times, ratios and conditions: finite, 0 or more.
[[nodiscard]] Complaint number_complaint(std::string_view field, double value);
[[nodiscard]] Complaint complaint(const Problem& problem);
[[nodiscard]] Complaint complaint(const Platform& platform);
[[nodiscard]] Complaint complaint(const Measurement& measurement);
[[nodiscard]] Complaint complaint(const LayerGemm& gemm);
[[nodiscard]] Complaint complaint(const Config& config);
[[nodiscard]] Complaint complaint(const Candidate& candidate);
[[nodiscard]] Complaint complaint(const Winner& winner);

/// `2026-01-31T12:00:00.000Z`, as `utc_now` writes it: text that sorts as the times do.
[[nodiscard]] Complaint time_complaint(std::string_view field, std::string_view time);
[[nodiscard]] std::string utc_now();

}  // namespace overlaptune::db
