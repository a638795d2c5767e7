// Rings, and level by level: the algorithms that send each byte to a neighbour.

#include "planning/whatif/algorithm_parts.hpp"

namespace overlaptune::cluster {
namespace {

/// Whether data may run both ways round at once, over links that are not the same.
bool has_two_ways(const Level& level) {
  return level.kind == LevelKind::ring || level.kind == LevelKind::torus;
}

}  // namespace

/// Every GPU sends (n-1)/n of the buffer on, once or twice. Where the ring leaves a group, all that
/// it carries passes the group's links: as much as one GPU sends, over the links of a whole member.
Found ring(const Sender& sender, const Question& question) {
  if (!is_reduction_or_gather(question.operation)) return {};
  const int count = passes(question.operation);
  const double bytes = count * (question.gpus - 1.0) / question.gpus * question.bytes;
  double latency = sender.inner->start_us;
  Transfer transfer;
  int members_outside = question.gpus;
  for (const Slice& slice : sender.slices) {
    if (slice.size < 2) continue;
    members_outside /= slice.size;
    latency += count * members_outside * (slice.size - 1) * sender.step(slice);
    const int ways = has_two_ways(*slice.level) ? 2 : 1;
    const double rate =
        sender.ring_rate(slice, question.operation, bytes / ways / slice.inner) * slice.inner;
    transfer.add(slice, bytes / ways / rate);
  }
  return transfer.timed(Algorithm::ring, sender, latency);
}

Pass pass_within(const Sender& sender, const Slice& slice, double bytes) {
  if (slice.level->kind == LevelKind::torus) return torus_pass(sender, slice, bytes);
  const int ways = has_two_ways(*slice.level) && slice.size > 2 ? 2 : 1;
  const double sent = (slice.size - 1.0) / slice.size * bytes / ways;
  return {slice.size - 1, sent / sender.rate(slice, sent)};
}

/// Reduce-scatter within the innermost groups, then of each GPU's part with the GPUs of the same
/// place in other groups, and so on; all-gather in the other order. The levels follow one another.
Found hierarchical(const Sender& sender, const Question& question) {
  if (!is_reduction_or_gather(question.operation) || sender.slices.size() < 2) return {};
  const int count = passes(question.operation);
  double latency = sender.inner->start_us;
  double sum = 0;
  double longest = 0;
  const Level* level = nullptr;
  for (const Slice& slice : sender.slices) {
    const Pass pass = pass_within(sender, slice, question.bytes / slice.inner);
    latency += count * pass.steps * sender.step(slice);
    sum += count * pass.us;
    if (pass.us > longest) {
      longest = pass.us;
      level = slice.level;
    }
  }
  return AlgorithmTime{
      .algorithm = Algorithm::hierarchical,
      .protocol = sender.inner->name,
      .us = latency + sum,
      .latency_us = latency,
      .bound_by = level == nullptr || latency > sum ? std::string("latency") : level->name};
}

}  // namespace overlaptune::cluster
