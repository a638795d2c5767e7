#pragma once
// families.json as a part of the program.

#include <string>
#include <vector>

namespace overlaptune {

struct EmbeddedFamilies {
  std::string name;
  std::string json;
};

/// One entry: the file.
[[nodiscard]] const std::vector<EmbeddedFamilies>& embedded_families();

}  // namespace overlaptune
