#pragma once
// A plan drawn with characters.

#include <string>

#include "planning/sequences/plan.hpp"

namespace overlaptune {

struct PictureOptions {
  int columns = 72;     ///< of the time axis
  int rows = 32;        ///< at most; several GPUs share a row where there are more
  bool colour = false;  ///< ANSI colours by degree
};

/// GPUs down, time across, a bar for each group. The letter of a bar tells the degree (a is 1, b is
/// 2, c is 4, ...); dots are idle GPUs.
[[nodiscard]] std::string picture(const BatchPlan& plan, const Gpus& gpus,
                                  const PictureOptions& options = {});

}  // namespace overlaptune
