#pragma once
// Simple planners. Most make groups before their micro-batches: which sequences share a group is
// decided first, which groups run side by side second.

#include <vector>

#include "planning/sequences/search/fill.hpp"

namespace overlaptune {

/// Every sequence goes to a group of its least level: the narrowest, at least `level`, on which
/// memory holds it. As few groups as the memory allows (best fit decreasing). With `share`, a
/// sequence also goes to wider groups that have room.
[[nodiscard]] Filled packed_groups(const Runs& runs, int level, bool share);

/// Groups, so many as `micro_batches` micro-batches have GPUs for, divided among the levels by the
/// GPU time of their sequences. A sequence goes to the group where it ends soonest (longest
/// processing time first: Graham 1969). No groups: the memory does not suffice.
[[nodiscard]] Filled spread_groups(const Runs& runs, int level, int micro_batches);

/// Puts groups with about as much work into one micro-batch.
[[nodiscard]] std::vector<Filled> side_by_side(const Runs& runs, const Filled& groups);

/// Micro-batches that are filled side by side: each sequence, longest first, goes where it ends
/// soonest, into an open group or a new one (after Graham 1969). A new group has any degree that
/// GPUs are left for or, with `narrow`, the least that holds the sequence. Empty: a sequence fits
/// nowhere.
[[nodiscard]] std::vector<Filled> least_finish(const Runs& runs, int micro_batches, bool narrow);

/// Micro-batches one after the other, each filled until the memory holds no more: longest sequences
/// first, on their least level, into a new group or the one with the least work.
[[nodiscard]] std::vector<Filled> filled_to_memory(const Runs& runs, int level);

}  // namespace overlaptune
