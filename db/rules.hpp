#pragma once
// The rules for values in a database. They hold for values that are added, imported and read back,
// so that a value from a database is never a NaN, a negative size or a winner without a time.

#include <optional>
#include <string>
#include <string_view>

#include "core/config/candidate.hpp"
#include "core/config/phase.hpp"
#include "core/layer_gemm.hpp"
#include "core/measurement.hpp"
#include "core/platform.hpp"
#include "db/store.hpp"

namespace overlaptune::db {

/// The fault of a value, as "FIELD is VALUE; expected …"; absent if there is none.
using Complaint = std::optional<std::string>;

[[nodiscard]] Complaint complaint(const Problem& problem);
/// The fault of a platform. Its texts are shown with every answer; they must be as those of a
/// provenance.
[[nodiscard]] Complaint complaint(const Platform& platform);
[[nodiscard]] Complaint complaint(const Measurement& measurement);
[[nodiscard]] Complaint complaint(const LayerGemm& gemm);
[[nodiscard]] Complaint complaint(const Config& config);
[[nodiscard]] Complaint complaint(const Candidate& candidate);
[[nodiscard]] Complaint complaint(const PhaseResult& result);
[[nodiscard]] Complaint complaint(const Winner& winner);
/// The fault of where a run comes from. Texts must be UTF-8 without control characters other than
/// tabs and ends of lines.
[[nodiscard]] Complaint complaint(const Provenance& provenance);

/// The fault of a uid, which must be 32 hexadecimal digits.
[[nodiscard]] Complaint uid_complaint(std::string_view uid);
/// The fault of a time in text, which must be as `utc_now` writes it: `2026-01-31T12:00:00.000Z`.
/// Such texts sort as their times do.
[[nodiscard]] Complaint time_complaint(std::string_view field, std::string_view time);
[[nodiscard]] std::string utc_now();
/// The fault of a time that is over an hour ahead of the clock of this machine: one of two clocks
/// is wrong. The row is sound, but it wins no merge.
[[nodiscard]] Complaint ahead_complaint(std::string_view field, std::string_view time);

/// The provenance with U+FFFD in its texts for all that is no text.
[[nodiscard]] Provenance cleaned(Provenance provenance);

}  // namespace overlaptune::db
