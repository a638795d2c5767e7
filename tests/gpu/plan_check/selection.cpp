#include "tests/gpu/plan_check/selection.hpp"

#include <algorithm>

namespace overlaptune::plan_check {

std::vector<Config> Selection::of(const Problem& problem, std::vector<Config> list) const {
  if (op.value_or(problem.op) != problem.op) return {};
  if (!strategy) return list;
  const auto asked = [&](const Config& config) { return strategy_of(config) == *strategy; };
  if (std::none_of(list.begin(), list.end(), asked)) return {};
  list.erase(std::remove_if(list.begin() + 1, list.end(),
                            [&](const Config& config) { return !asked(config); }),
             list.end());
  return list;
}

}  // namespace overlaptune::plan_check
