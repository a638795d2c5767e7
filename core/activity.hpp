#pragma once
// Activities of a GPU while a config ran: one record for each kernel, copy or wait.

#include <cmath>
#include <string>

#include "core/base/names.hpp"
#include "core/base/units.hpp"

namespace overlaptune {

enum class ActivityKind { gemm, collective, copy, signal, other };

template <>
struct NamesOf<ActivityKind> {
  static constexpr std::string_view what = "activity";
  static constexpr std::array<Named<ActivityKind>, 5> all{{{ActivityKind::gemm, "gemm"},
                                                           {ActivityKind::collective, "collective"},
                                                           {ActivityKind::copy, "copy"},
                                                           {ActivityKind::signal, "signal"},
                                                           {ActivityKind::other, "other"}}};
};

/// A kernel, copy or wait of one rank. Times count from the start of the rank's first activity.
struct Activity {
  int rank = 0;
  int stream = 0;
  ActivityKind kind = ActivityKind::other;
  std::string name{};
  Microseconds start{};
  Microseconds end{};
  friend bool operator==(const Activity&, const Activity&) = default;
};

/// Whether start and end are finite and in this order.
[[nodiscard]] inline bool is_sound(const Activity& activity) {
  return std::isfinite(activity.start.count()) && std::isfinite(activity.end.count()) &&
         activity.start <= activity.end;
}

}  // namespace overlaptune
