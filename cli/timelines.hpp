#pragma once
// Timelines as `predict` and `run` show them.

#include <string>
#include <string_view>

#include "core/config.hpp"
#include "core/platform.hpp"
#include "reports/figure.hpp"

namespace overlaptune::cli {

/// The figure in characters, as wide as the terminal. Lines with figures of a simulated machine say
/// so.
[[nodiscard]] std::string blocks(const Figure& figure, const Platform& platform);

/// "gemm_all_reduce:… on sim:h200-nvlink-x8, predicted: chunked …"
[[nodiscard]] std::string trace_title(const Problem& problem, const Platform& platform,
                                      const Config& config, std::string_view source);

}  // namespace overlaptune::cli
