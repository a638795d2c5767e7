#include "strategies/chunked/traits.hpp"

namespace overlaptune {

Expected<void> TraitsOf<Chunked>::check(const Problem& problem, const Chunked& config) {
  return has_rows_for(problem, config.chunks);
}

ChunkedWork TraitsOf<Chunked>::work(const Problem& problem, const Chunked& config) {
  return {value_or_throw(chunk_rows(problem, config.chunks))};
}

}  // namespace overlaptune
