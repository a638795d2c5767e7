#pragma once
// Which sources fit the model. The build makes the function (model/CMakeLists.txt).

#include <cstdint>

namespace overlaptune {

/// A hash of the sources of the rooms `model` and `core`.
[[nodiscard]] std::uint64_t digest_of_fitting_sources();

}  // namespace overlaptune
