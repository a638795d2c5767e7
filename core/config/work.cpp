#include "core/config/work.hpp"

#include "core/config/strategies.hpp"

namespace overlaptune {

Expected<Work> Work::make(const Problem& problem, Config config, const Capabilities& capabilities) {
  if (const auto legal = check(problem, config, capabilities); !legal) return error_of(legal);
  const auto parts_of = [&]<class Own>(const Own& own) -> WorkParts {
    return TraitsOf<Own>::work(problem, own);
  };
  WorkParts parts = std::visit(parts_of, config);
  return Work(problem, std::move(config), std::move(parts));
}

std::optional<TiledKernel> Work::kernel() const {
  const auto* tiled = std::get_if<TiledWork>(&parts_);
  return tiled == nullptr ? std::nullopt : std::optional(tiled->kernel);
}

}  // namespace overlaptune
