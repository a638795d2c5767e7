#include "db/rules.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <type_traits>

#include <fmt/chrono.h>
#include <fmt/format.h>

#include "core/base/printable.hpp"
#include "core/config/check.hpp"

namespace overlaptune::db {
namespace {

Complaint at_least(std::string_view field, std::int64_t value, std::int64_t least) {
  if (value >= least) return std::nullopt;
  return fmt::format("{} is {}; expected {} or more", field, value, least);
}

/// The fault of a time, a ratio or a condition, which must be finite and 0 or more.
Complaint number_complaint(std::string_view field, double value) {
  if (std::isfinite(value) && value >= 0) return std::nullopt;
  return fmt::format("{} is {}; expected a finite number of 0 or more", field, value);
}

/// The first complaint that is present.
template <class... Complaints>
Complaint first(Complaint complaint, Complaints... others) {
  if constexpr (sizeof...(others) > 0) {
    if (!complaint) return first(std::move(others)...);
  }
  return complaint;
}

/// The complaint about a median and a value on each side of it, which have these names.
Complaint spread_complaint(std::string_view field, std::string_view unit, double median, double low,
                           double high, std::string_view low_name = "p10",
                           std::string_view high_name = "p90") {
  for (const auto& [part, value] : {std::pair<std::string_view, double>{"median", median},
                                    {low_name, low},
                                    {high_name, high}}) {
    if (auto wrong = number_complaint(fmt::format("{} {}{}", field, part, unit), value))
      return wrong;
  }
  if (low <= median && median <= high) return std::nullopt;
  return fmt::format("{} median{} is {}; expected {} to {}, which are {} and {}", field, unit,
                     median, low_name, high_name, low, high);
}

Complaint summary_complaint(std::string_view field, const std::optional<Summary>& summary) {
  if (!summary) return std::nullopt;
  return first(spread_complaint(field, " (us)", summary->median.count(), summary->p10.count(),
                                summary->p90.count()),
               at_least(fmt::format("{} count", field), summary->count, 0));
}

Complaint positive_complaint(std::string_view field, Microseconds time) {
  if (auto wrong = number_complaint(field, time.count())) return wrong;
  if (time > us(0)) return std::nullopt;
  return fmt::format("{} is 0; expected a time", field);
}

Complaint within(std::string_view field, std::int64_t value, std::int64_t least,
                 std::int64_t most) {
  if (value >= least && value <= most) return std::nullopt;
  return fmt::format("{} is {}; expected {} to {}", field, value, least, most);
}

/// The text with U+FFFD for each byte that is no UTF-8, and for control characters other than tabs
/// and ends of lines.
std::string cleaned(std::string_view text) {
  std::string clean;
  while (!text.empty()) {
    const auto [bytes, code] = first_letter(text);
    if (code && (!is_control(*code) || *code == U'\t' || *code == U'\n')) {
      clean += bytes;
    } else {
      clean += "\xef\xbf\xbd";
    }
    text.remove_prefix(bytes.size());
  }
  return clean;
}

Complaint text_complaint(std::string_view field, std::string_view text) {
  if (cleaned(text) == text) return std::nullopt;
  return fmt::format("{} holds bytes that are no text; expected UTF-8 without control characters",
                     field);
}

Complaint tile_complaint(std::string_view field, const Tile& tile) {
  const auto [least, most] =
      std::minmax({tile.block_m, tile.block_n, tile.block_k, tile.stages, tile.cluster});
  if (least > 0 || (least == 0 && most == 0)) return std::nullopt;
  return fmt::format("{}: expected positive sizes, or zeros for the library's choice", field);
}

/// The complaint about a probe: sizes by which the model divides, and limits of what it adds up.
struct ProbeComplaint {
  Complaint operator()(const GemmProbe& p) const {
    return first(within("m", p.m, 1, kLargestSize), within("n", p.n, 1, kLargestSize),
                 within("k", p.k, 1, kLargestSize), tile_complaint("tile", p.tile),
                 at_least("swizzle", p.swizzle, 0), at_least("sms", p.sms, 0));
  }
  Complaint operator()(const CollectiveProbe& p) const {
    return first(within("bytes", p.bytes.count, 0, kMostBytes),
                 within("ranks", p.ranks, 2, kMostRanks), at_least("comm_ctas", p.comm_ctas, 0));
  }
  Complaint operator()(const ConcurrentProbe& p) const {
    const bool by_library = p.gemm.tile.is_library();
    return first((*this)(p.gemm), (*this)(p.collective),
                 at_least("comm_ctas", p.collective.comm_ctas, by_library ? 1 : 0));
  }
  Complaint operator()(const SustainedProbe& p) const {
    return first((*this)(p.gemm), (*this)(p.collective));
  }
  Complaint operator()(const CopyProbe& p) const {
    return first(within("bytes", p.bytes.count, 0, kMostBytes), at_least("ctas", p.ctas, 0));
  }
  Complaint operator()(const LaunchProbe& /*probe*/) const { return std::nullopt; }
  Complaint operator()(const PeerProbe& p) const {
    if (p.from == p.to) return fmt::format("from and to are {}; expected two GPUs", p.from);
    return first(within("bytes", p.bytes.count, 0, kMostBytes),
                 within("from", p.from, 0, kMostPeers - 1), within("to", p.to, 0, kMostPeers - 1));
  }
  Complaint operator()(const LayerProbe& p) const {
    return first(within("amount", p.amount, 1, kMostLayerAmount),
                 is_collective(p.work) ? within("ranks", p.ranks, 2, kMostRanks)
                                       : within("ranks", p.ranks, 1, 1));
  }

  static constexpr std::int64_t kMostBytes = std::int64_t{1} << 50;
};

std::string utc(std::chrono::system_clock::time_point time) {
  const auto now = std::chrono::floor<std::chrono::milliseconds>(time);
  const auto second = std::chrono::floor<std::chrono::seconds>(now);
  return fmt::format("{:%Y-%m-%dT%H:%M:%S}.{:03}Z",
                     fmt::gmtime(std::chrono::system_clock::to_time_t(second)),
                     (now - second).count());
}

Complaint conditions_complaint(const Conditions& conditions) {
  return first(number_complaint("sm_clock_mhz", conditions.sm_clock_mhz.value_or(0)),
               number_complaint("power_w", conditions.power_w.value_or(0)));
}

}  // namespace

Complaint complaint(const Problem& problem) {
  if (const auto sound = validated(problem); !sound) return sound.error().message;
  return std::nullopt;
}

Complaint complaint(const Platform& platform) {
  Complaint wrong;
  each_field(kPlatformFields, platform, [&](std::string_view field, const auto& value) {
    if constexpr (std::is_convertible_v<decltype(value), std::string_view>) {
      if (!wrong) wrong = text_complaint(field, value);
    }
  });
  if (wrong) return wrong;
  return first(at_least("gpu_count", platform.gpu_count, 0), at_least("sms", platform.sms, 0),
               at_least("compute_capability", platform.compute_capability, 0),
               at_least("memory_bytes", platform.memory.count, 0));
}

namespace {

/// The complaint about a measured operation of a layer. Plans divide by its time.
Complaint layer_complaint(const Measurement& measurement) {
  constexpr Microseconds kLongest = us(1e13);  // four months
  if (auto wrong = positive_complaint("time p10 (us)", measurement.time.p10)) return wrong;
  if (measurement.time.p90 > kLongest) {
    return fmt::format("time p90 (us): {}; expected at most {}", measurement.time.p90.count(),
                       kLongest.count());
  }
  if (measurement.collective_time || measurement.library_tile) {
    return "collective_time and library_tile: expected none, for an operation of a layer has none";
  }
  return std::nullopt;
}

}  // namespace

Complaint complaint(const Measurement& measurement) {
  const bool of_layer = std::holds_alternative<LayerProbe>(measurement.probe);
  const Tile tile = measurement.library_tile.value_or(Tile{1, 1, 1, 1, 1});
  const bool tile_is_sound =
      std::min({tile.block_m, tile.block_n, tile.block_k, tile.stages, tile.cluster}) >= 1;
  return first(std::visit(ProbeComplaint{}, measurement.probe),
               summary_complaint("time", measurement.time),
               of_layer ? layer_complaint(measurement) : std::nullopt,
               summary_complaint("collective_time", measurement.collective_time),
               tile_is_sound ? Complaint() : "library_tile: expected positive sizes",
               conditions_complaint(measurement.conditions));
}

Complaint complaint(const LayerGemm& gemm) {
  return first(complaint(gemm.problem),
               gemm.model.empty() ? Complaint("model is empty; expected a name") : std::nullopt,
               within("tokens", gemm.tokens, 1, kLargestSize),
               within("times_per_pass", gemm.times_per_pass, 1, kLargestSize));
}

Complaint complaint(const Config& config) {
  if (const auto legal = check(config); !legal) return legal.error().message;
  return std::nullopt;
}

Complaint complaint(const Candidate& candidate) {
  const auto& [median, p10, p90] = candidate.speedup.value_or(Candidate::Speedup{});
  return first(complaint(candidate.problem), complaint(candidate.config),
               at_least("rank_by_model", candidate.rank_by_model.value_or(0), 0),
               number_complaint("predicted (us)", candidate.predicted.count()),
               summary_complaint("measured", candidate.measured),
               spread_complaint("speedup", "", median, p10, p90),
               conditions_complaint(candidate.conditions));
}

Complaint complaint(const PhaseResult& result) {
  const bool is_compared = result.verdict == Verdict::valid && result.measured && result.sequential;
  const auto& [median, low, high] = result.speedup.value_or(PhaseResult::Speedup{});
  return first(complaint(result.problem), complaint(result.config),
               summary_complaint("measured", result.measured),
               number_complaint("sequential (us)", result.sequential.value_or(us(0)).count()),
               result.speedup && !is_compared
                   ? Complaint("speedup: expected none, for one of the two has no time")
                   : std::nullopt,
               spread_complaint("speedup", "", median, low, high, "low", "high"),
               conditions_complaint(result.conditions));
}

Complaint complaint(const Winner& winner) {
  if (auto wrong = complaint(winner.candidate)) return wrong;
  const Candidate& candidate = winner.candidate;
  if (const auto legal = check(candidate.problem, candidate.config); !legal) {
    return legal.error().message;
  }
  if (candidate.verdict != Verdict::valid) {
    return fmt::format("verdict is {}; expected valid, for only a valid candidate can win",
                       to_string(candidate.verdict));
  }
  if (!candidate.measured) return "measured is absent; expected the time of the winner";
  const double overlap = winner.overlap_fraction.value_or(0);
  return first(positive_complaint("measured median (us)", candidate.measured->median),
               positive_complaint("sequential (us)", winner.sequential),
               number_complaint("gemm_alone (us)", winner.gemm_alone.count()),
               number_complaint("collective_alone (us)", winner.collective_alone.count()),
               overlap >= 0 && overlap <= 1
                   ? Complaint()
                   : fmt::format("overlap_fraction is {}; expected 0 to 1", overlap));
}

Complaint uid_complaint(std::string_view uid) {
  constexpr std::size_t kDigits = 32;
  if (uid.size() == kDigits && uid.find_first_not_of("0123456789abcdef") == uid.npos) {
    return std::nullopt;
  }
  return fmt::format("uid is '{}'; expected {} hexadecimal digits", uid.substr(0, 40), kDigits);
}

Complaint time_complaint(std::string_view field, std::string_view time) {
  // Each letter is compared with two bounds, always to the end, in a type as wide as a letter. A
  // compiler makes few instructions of it; it runs for each of many thousand winners.
  constexpr std::string_view kLeast = "0000-00-00T00:00:00.000Z";
  constexpr std::string_view kLargestDigits = "9999-19-39T29:59:59.999Z";
  if (time.size() == kLeast.size()) {
    unsigned char outside = 0;
    for (std::size_t i = 0; i < kLeast.size(); ++i) {
      outside |= static_cast<unsigned char>(time[i] < kLeast[i]);
      outside |= static_cast<unsigned char>(time[i] > kLargestDigits[i]);
    }
    const auto month = time.substr(5, 2);
    const auto day = time.substr(8, 2);
    const bool is_day = month >= "01" && month <= "12" && day >= "01" && day <= "31";
    if (outside == 0 && is_day && time.substr(11, 2) <= "23") return std::nullopt;
  }
  return fmt::format("{} is '{}'; expected UTC as 2026-01-31T12:00:00.000Z", field,
                     time.substr(0, 40));
}

std::string utc_now() {
  return utc(std::chrono::system_clock::now());
}

Complaint ahead_complaint(std::string_view field, std::string_view time) {
  constexpr auto kTolerance = std::chrono::hours(1);
  const std::string latest = utc(std::chrono::system_clock::now() + kTolerance);
  if (time <= latest) return std::nullopt;
  return fmt::format(
      "{} is {}, ahead of this machine's clock ({}); set the wrong one of the clocks", field, time,
      utc_now());
}

namespace {

constexpr std::array kTexts{std::pair{"program_version", &Provenance::program_version},
                            std::pair{"host", &Provenance::host},
                            std::pair{"command_line", &Provenance::command_line}};

}  // namespace

Provenance cleaned(Provenance provenance) {
  for (const auto& [field, text] : kTexts) provenance.*text = cleaned(provenance.*text);
  return provenance;
}

Complaint complaint(const Provenance& provenance) {
  for (const auto& [field, text] : kTexts) {
    if (auto wrong = text_complaint(field, provenance.*text)) return wrong;
  }
  return time_complaint("started_at", provenance.started_at);
}

}  // namespace overlaptune::db
