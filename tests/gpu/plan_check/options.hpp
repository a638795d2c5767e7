#pragma once
// The command line of plan_check.

#include <string>
#include <vector>

#include "core/base/error.hpp"
#include "tests/gpu/plan_check/selection.hpp"

namespace overlaptune::plan_check {

struct Options {
  std::string database{};
  std::vector<Problem> problems{};
  Selection selection{};
  int ranks_per_gpu = 1;
  bool gives_memory = false;
  int nodes = 1;
};

/// Error (`bad_input`): the option, and the expected value. Ends the program after `--help`.
[[nodiscard]] Expected<Options> parse_options(int argc, const char* const* argv);

}  // namespace overlaptune::plan_check
