#include "kernels/registry.hpp"

#include <algorithm>
#include <stdexcept>

namespace overlaptune::kernels {

std::string embedded_source(std::string_view name) {
  const auto& sources = embedded_sources();
  const auto found =
      std::find_if(sources.begin(), sources.end(),
                   [&](const EmbeddedSource& source) { return source.name == name; });
  if (found == sources.end()) {
    throw std::out_of_range("kernels/device/" + std::string(name) + ".cu: not part of the program");
  }
  return std::string(found->text);
}

KernelSource wait_kernel() {
  return {.name = "wait_for_value", .text = embedded_source("wait")};
}

std::vector<KernelSource> kernels_of(const std::string& /*architecture*/) {
  return {wait_kernel()};
}

}  // namespace overlaptune::kernels
