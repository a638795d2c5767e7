#include "core/activity.hpp"

#include <cmath>

namespace overlaptune {

bool is_sound(const Activity& activity) {
  return std::isfinite(activity.start.count()) && std::isfinite(activity.end.count()) &&
         activity.start <= activity.end;
}

}  // namespace overlaptune
