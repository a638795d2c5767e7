#pragma once
// The constants that iterative fits of a model found. A database keeps them, so that a process that
// only asks need not look for them again.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace overlaptune {

/// Constants by the name of their fit, as in "bf16 library".
using FittedConstants = std::map<std::string, std::vector<double>>;

struct Fit {
  std::uint64_t fitted_to = 0;  ///< `digest_of_fit` (model/model.hpp)
  FittedConstants constants{};
  friend bool operator==(const Fit&, const Fit&) = default;
};

}  // namespace overlaptune
