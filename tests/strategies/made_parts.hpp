#pragma once
// Measurements made by hand, of which parts of a model are fitted.

#include <vector>

#include "model/parts.hpp"

namespace overlaptune {

/// GEMMs of the library on all SMs, as many as a fit needs: 100 us and more.
inline std::vector<Measurement> library_gemms() {
  std::vector<Measurement> list;
  for (std::int64_t m = 1; m <= 26; ++m) {
    list.push_back({.probe = GemmProbe{.m = 512 * m, .n = 4096, .k = 1024},
                    .time = {.median = us(100.0 * static_cast<double>(m))}});
  }
  return list;
}

/// A collective alone that takes so many us.
inline Measurement measured(const CollectiveKey& key, double bytes, double time) {
  return {.probe = CollectiveProbe{.collective = key.collective,
                                   .bytes = {static_cast<std::int64_t>(bytes)},
                                   .ranks = key.ranks,
                                   .comm_ctas = key.comm_ctas,
                                   .transport = key.transport},
          .time = {.median = us(time)}};
}

}  // namespace overlaptune
