// Trees, and the switch that reduces.

#include <bit>

#include "planning/whatif/algorithm_parts.hpp"

namespace overlaptune::cluster {
namespace {

/// Groups of the innermost level.
int groups(const Sender& sender, const Question& question) {
  return question.gpus / sender.slices.front().size;
}

int tree_depth(int groups) {
  return std::bit_width(static_cast<unsigned>(groups - 1));
}

/// The links between the groups: of a double binary tree each group sends the whole buffer twice
/// (Sanders, Speck, Traeff: Two-tree algorithms for full bandwidth broadcast, reduction and scan,
/// 2009); two groups only exchange it.
void add_tree_of_groups(const Sender& sender, const Question& question, Transfer& transfer,
                        double& latency) {
  const double bytes = (groups(sender, question) == 2 ? 1 : 2) * question.bytes;
  for (const Slice& slice : sender.slices.subspan(1)) {
    latency += 2 * tree_depth(slice.size) * sender.step(slice);
    transfer.add(slice, bytes / (sender.rate(slice, bytes / slice.inner) * slice.inner));
  }
}

/// The switch reads the buffer of each GPU, reduces, and writes each result to all: in each
/// direction of a GPU's links pass the buffer and its own part of the result.
void add_multicast(const Sender& sender, const Question& question, Transfer& transfer,
                   double& latency) {
  const Slice& inner = sender.slices.front();
  const Level& level = *inner.level;
  const double bytes = question.bytes * (1 + 1.0 / inner.size);
  latency += level.multicast.latency_us;
  transfer.add(inner, bytes / (gpu_rate(inner, bytes) * level.multicast.share));
}

/// The switch works with the last protocol alone (NCCL: Simple), and not for 2 GPUs.
bool can_multicast(const Sender& sender, const Question& question) {
  const Slice& inner = sender.slices.front();
  const bool is_simple = sender.inner == &inner.level->protocols.back();
  return question.operation == Operation::all_reduce && inner.level->multicast.share > 0 &&
         inner.size > 2 && is_simple;
}

bool reaches_all(LevelKind kind) {
  return kind == LevelKind::switched || kind == LevelKind::pcie || kind == LevelKind::rails;
}

}  // namespace

/// A chain through the GPUs of a group carries the buffer up and down again.
Found tree(const Sender& sender, const Question& question) {
  if (question.operation != Operation::all_reduce) return {};
  for (const Slice& slice : sender.slices) {
    if (!reaches_all(slice.level->kind)) return {};
  }
  const Slice& inner = sender.slices.front();
  const double chain = 2 * question.bytes;
  double latency = sender.inner->start_us + 2 * (inner.size - 1) * sender.step(inner);
  Transfer transfer;
  transfer.add(inner, chain / sender.ring_rate(inner, question.operation, chain));
  add_tree_of_groups(sender, question, transfer, latency);
  return transfer.timed(Algorithm::tree, sender, latency);
}

Found nvls(const Sender& sender, const Question& question) {
  if (!can_multicast(sender, question) || sender.slices.size() > 1) return {};
  double latency = 0;
  Transfer transfer;
  add_multicast(sender, question, transfer, latency);
  return transfer.timed(Algorithm::nvls, sender, latency);
}

Found nvls_tree(const Sender& sender, const Question& question) {
  if (!can_multicast(sender, question) || sender.slices.size() < 2) return {};
  double latency = 0;
  Transfer transfer;
  add_multicast(sender, question, transfer, latency);
  add_tree_of_groups(sender, question, transfer, latency);
  return transfer.timed(Algorithm::nvls_tree, sender, latency);
}

}  // namespace overlaptune::cluster
