// Trees, and the switch that reduces.

#include <bit>

#include "planning/whatif/algorithm_parts.hpp"

namespace overlaptune::cluster {
namespace {

/// The links between the groups: of a double binary tree each group sends the whole buffer twice
/// (Sanders, Speck, Traeff: Two-tree algorithms for full bandwidth broadcast, reduction and scan,
/// 2009); two groups only exchange it.
void add_tree_of_groups(const Sender& sender, const Question& question, Transfer& transfer,
                        double& latency) {
  const int groups = question.gpus / sender.slices.front().size;
  const double bytes = (groups == 2 ? 1 : 2) * question.bytes;
  for (const Slice& slice : sender.slices.subspan(1)) {
    const int depth = std::bit_width(static_cast<unsigned>(slice.size - 1));
    latency += 2 * depth * sender.step(slice);
    transfer.add(slice, bytes / (sender.rate(slice, bytes / slice.inner) * slice.inner));
  }
}

}  // namespace

/// A chain through the GPUs of a group carries the buffer up and down again.
Found tree(const Sender& sender, const Question& question) {
  if (question.operation != Operation::all_reduce) return {};
  for (const Slice& slice : sender.slices) {
    const LevelKind kind = slice.level->kind;
    const bool reaches_all =
        kind == LevelKind::switched || kind == LevelKind::pcie || kind == LevelKind::rails;
    if (!reaches_all) return {};
  }
  const Slice& inner = sender.slices.front();
  const double chain = 2 * question.bytes;
  double latency = sender.inner->start_us + 2 * (inner.size - 1) * sender.step(inner);
  Transfer transfer;
  transfer.add(inner, chain / sender.ring_rate(inner, question.operation, chain));
  add_tree_of_groups(sender, question, transfer, latency);
  return transfer.timed(Algorithm::tree, sender, latency);
}

/// In each innermost group the switch reads the buffer of each GPU, reduces, and writes each result
/// to all: in each direction of a GPU's links pass the buffer and its own part of the result. The
/// switch works with the last protocol alone (NCCL: Simple), and not for 2 GPUs.
Found by_switch(const Sender& sender, const Question& question) {
  const Slice& inner = sender.slices.front();
  const Multicast& multicast = inner.level->multicast;
  const bool is_simple = sender.inner == &inner.level->protocols.back();
  if (question.operation != Operation::all_reduce || multicast.share <= 0 || inner.size <= 2 ||
      !is_simple) {
    return {};
  }
  const double bytes = question.bytes * (1 + 1.0 / inner.size);
  double latency = multicast.latency_us;
  Transfer transfer;
  transfer.add(inner, bytes / (gpu_rate(inner, bytes) * multicast.share));
  add_tree_of_groups(sender, question, transfer, latency);
  const bool is_one_group = sender.slices.size() == 1;
  return transfer.timed(is_one_group ? Algorithm::nvls : Algorithm::nvls_tree, sender, latency);
}

}  // namespace overlaptune::cluster
