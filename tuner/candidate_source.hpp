#pragma once
// Where the candidates of a problem come from, one after the other.

#include <optional>
#include <vector>

#include "core/config/candidate.hpp"

namespace overlaptune {

class CandidateSource {
 public:
  virtual ~CandidateSource() = default;

  /// Candidates that will probably come, so that their kernels can be compiled at once.
  [[nodiscard]] virtual std::vector<Candidate> likely() const = 0;

  /// The next candidate; the first one is `sequential`. None once there are enough.
  [[nodiscard]] virtual std::optional<Candidate> next() = 0;

  /// Takes note of the result of a candidate, before `next` is called again.
  virtual void judged(const Candidate& candidate) = 0;
};

}  // namespace overlaptune
