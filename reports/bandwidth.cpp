#include "reports/bandwidth.hpp"

namespace overlaptune {

double algorithm_bandwidth(Bytes whole_buffer, Microseconds time) {
  return static_cast<double>(whole_buffer.count) / time.count() * 1e-3;
}

double bus_factor(Collective collective, int ranks) {
  const double others = static_cast<double>(ranks - 1) / ranks;
  return collective == Collective::all_reduce ? 2 * others : others;
}

}  // namespace overlaptune
