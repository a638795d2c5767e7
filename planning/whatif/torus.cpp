// A torus with all its links in use.

#include <algorithm>

#include "planning/whatif/algorithm_parts.hpp"

namespace overlaptune::cluster {

/// The buffer is cut into a part for each dimension, which starts there and goes on with the next
/// one; so in each of the k phases every dimension carries one part. In a ring half of a part runs
/// each way round. A line has one way: its end sends all but its own share over one link.
Pass torus_pass(const Sender& sender, const Slice& slice, double bytes) {
  std::vector<int> rings;
  for (const int size : slice.sizes) {
    if (size > 1) rings.push_back(size);
  }
  const std::size_t k = rings.size();
  std::vector<double> part(k, k == 0 ? 0 : bytes / static_cast<double>(k));
  Pass pass;
  for (std::size_t phase = 0; phase < k; ++phase) {
    double longest = 0;
    int steps = 0;
    for (std::size_t i = 0; i < k; ++i) {
      const int size = rings[(i + phase) % k];
      const bool wraps = size >= slice.level->wrap_from && size > 2;
      const double sent = (size - 1.0) / size * part[i] / (wraps ? 2 : 1);
      longest = std::max(longest, sent / sender.rate(slice, sent));
      steps = std::max(steps, size - 1);
      part[i] /= size;
    }
    pass.us += longest;
    pass.steps += steps;
  }
  return pass;
}

Found multi_dimensional(const Sender& sender, const Question& question) {
  const Slice& slice = sender.slices.front();
  if (slice.level->kind != LevelKind::torus || sender.slices.size() > 1) return {};
  if (!is_reduction_or_gather(question.operation)) return {};
  const int count = passes(question.operation);
  const Pass pass = torus_pass(sender, slice, question.bytes);
  Transfer transfer;
  transfer.add(slice, count * pass.us);
  return transfer.timed(Algorithm::multi_dimensional, sender,
                        sender.inner->start_us + count * pass.steps * sender.step(slice));
}

}  // namespace overlaptune::cluster
