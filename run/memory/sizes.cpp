#include "run/memory/sizes.hpp"

#include <algorithm>
#include <type_traits>
#include <variant>

#include "core/config/strategies.hpp"
#include "strategies/runners.hpp"

namespace overlaptune::run {

std::int64_t workspace_bytes(const Work& work) {
  const auto by_strategy = [&]<class Own>(const Own& /*config*/) -> std::int64_t {
    return RunnerOf<Own>::workspace_bytes(work);
  };
  return std::visit(by_strategy, work.config());
}

std::int64_t most_workspace_bytes(const Problem& problem) {
  const auto most = each_strategy([&]<class Own>(std::type_identity<Own>) -> std::int64_t {
    const bool runs = TraitsOf<Own>::row.ops.contains(problem.op);
    return runs ? RunnerOf<Own>::most_workspace_bytes(problem) : 0;
  });
  return *std::max_element(most.begin(), most.end());
}

}  // namespace overlaptune::run
