#pragma once
// The answer to a question about a problem: a config, where it comes from, and its times.

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/names.hpp"
#include "core/base/units.hpp"
#include "core/config/config.hpp"

namespace overlaptune {

enum class Source {
  exact,  ///< a winner validated on this platform, or the fastest measured config of those allowed
  predicted,  ///< the model's choice, or a winner of another host with the same GPUs
  baseline,   ///< `sequential`: nothing better is known
};

template <>
struct NamesOf<Source> {
  static constexpr std::string_view what = "source";
  static constexpr std::array<Named<Source>, 3> all{
      {{Source::exact, "exact"}, {Source::predicted, "predicted"}, {Source::baseline, "baseline"}}};
};

struct Answer {
  Source source = Source::baseline;
  std::string reason{};  ///< why the answer has this source, in one line
  Config config{};
  std::optional<Microseconds> predicted{};
  std::optional<Microseconds> measured{};  ///< `exact` only
  /// `sequential` on the same problem: measured for `exact`, predicted otherwise; absent where the
  /// model cannot tell.
  std::optional<Microseconds> baseline{};
};

}  // namespace overlaptune
