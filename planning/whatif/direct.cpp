// Sends between GPUs without a third one: all-to-all, and a single send.

#include <algorithm>
#include <bit>

#include "planning/whatif/algorithm_parts.hpp"

namespace overlaptune::cluster {
namespace {

/// Bytes over the busiest link of a ring or torus, of an all-to-all in which each GPU sends
/// `bytes`. Along a ring of d a byte goes d/4 links on average, half of them each way; along a line
/// the middle link carries most: a quarter of all bytes each way.
double through_neighbours(const Slice& slice, double bytes) {
  double busiest = 0;
  for (const int size : slice.sizes) {
    const bool wraps = slice.level->kind == LevelKind::ring || size >= slice.level->wrap_from;
    busiest = std::max(busiest, bytes * size / (wraps && size > 2 ? 8 : 4));
  }
  return busiest;
}

Found all_to_all(const Sender& sender, const Question& question) {
  double latency = sender.inner->start_us;
  Transfer transfer;
  for (const Slice& slice : sender.slices) {
    if (slice.size < 2) continue;
    // The GPUs that are reached over this level and no level further out.
    const double reached = static_cast<double>(slice.inner) * (slice.size - 1);
    const double sent = question.bytes * reached / question.gpus;
    const bool hops = slice.level->kind == LevelKind::ring || slice.level->kind == LevelKind::torus;
    const double busiest =
        hops ? through_neighbours(slice, question.bytes * slice.size * slice.inner / question.gpus)
             : sent;
    latency += std::bit_width(static_cast<unsigned>(slice.size - 1)) * sender.step(slice);
    transfer.add(slice, busiest / sender.rate(slice, busiest));
  }
  return transfer.timed(Algorithm::direct, sender, latency);
}

/// From the first GPU to the last one, over the outermost level that lies between them.
Found send(const Sender& sender, const Question& question) {
  const Slice& slice = sender.slices.back();
  Slice alone = slice;
  alone.inner = 1;
  alone.size = 2;
  // One GPU has one network card of its group's.
  const double links = slice.level->kind == LevelKind::rails ? slice.level->links : 1;
  Transfer transfer;
  transfer.add(slice, question.bytes * links / sender.rate(alone, question.bytes));
  return transfer.timed(Algorithm::direct, sender, sender.inner->start_us + sender.step(slice));
}

}  // namespace

/// Sends of NCCL have no LL128 (its documentation of NCCL_PROTO; src/enqueue.cc).
Found direct(const Sender& sender, const Question& question) {
  if (sender.inner->name == "ll128") return {};
  if (question.operation == Operation::all_to_all) return all_to_all(sender, question);
  if (question.operation == Operation::send) return send(sender, question);
  return {};
}

}  // namespace overlaptune::cluster
