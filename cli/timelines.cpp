#include "cli/timelines.hpp"

#include <unistd.h>

#include <fmt/format.h>

#include "cli/origin.hpp"
#include "cli/terminal.hpp"
#include "reports/blocks.hpp"

namespace overlaptune::cli {

std::string blocks(const Figure& figure, const Platform& platform) {
  return to_blocks(figure, {.columns = terminal_columns(STDOUT_FILENO),
                            .utf8 = shows_utf8(),
                            .mark = std::string(simulated_mark(platform))});
}

std::string trace_title(const Problem& problem, const Platform& platform, const Config& config,
                        std::string_view source) {
  return fmt::format("{} on {}, {}: {}", to_string(problem), full_name(platform), source,
                     to_string(config));
}

}  // namespace overlaptune::cli
