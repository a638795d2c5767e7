#pragma once
// Activities made by hand, or at random.

#include <random>
#include <string>
#include <vector>

#include "core/activity.hpp"

namespace overlaptune::activities {

inline Activity activity(int rank, ActivityKind kind, double start, double end, int stream = 0) {
  return {.rank = rank,
          .stream = stream,
          .kind = kind,
          .name = std::string(to_string(kind)),
          .start = us(start),
          .end = us(end)};
}

/// Any number of activities of any kind. They begin and end at whole microseconds, so that the
/// middle of each microsecond stands for all of it.
inline std::vector<Activity> random_activities(std::mt19937& random, int ranks, int latest) {
  std::vector<Activity> activities;
  std::uniform_int_distribution<int> count(0, 30);
  for (int i = count(random); i > 0; --i) {
    const auto kind = NamesOf<ActivityKind>::all[random() % 5].value;
    const int start = static_cast<int>(random() % static_cast<unsigned>(latest));
    const int end = start + static_cast<int>(random() % 20);
    activities.push_back(activity(static_cast<int>(random() % static_cast<unsigned>(ranks)), kind,
                                  start, end, static_cast<int>(random() % 3)));
  }
  return activities;
}

}  // namespace overlaptune::activities
