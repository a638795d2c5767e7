#pragma once
// The properties and rules of `chunked`.

#include "core/config/strategy_traits.hpp"
#include "core/config/work_parts.hpp"
#include "core/problem.hpp"

namespace overlaptune {

template <>
struct TraitsOf<Chunked> {
  static constexpr StrategyTraits row{
      .ops = kAllOps, .transports = {Transport::ring, Transport::symmetric}, .least_ctas = 1};

  [[nodiscard]] static Expected<void> check(const Chunked& /*config*/) { return {}; }
  [[nodiscard]] static Expected<void> check(const Problem& problem, const Chunked& config) {
    return has_rows_for(problem, config.chunks);
  }
  [[nodiscard]] static ChunkedWork work(const Problem& problem, const Chunked& config) {
    return {value_or_throw(chunk_rows(problem, config.chunks))};
  }
};

}  // namespace overlaptune
