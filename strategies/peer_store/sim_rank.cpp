#include "strategies/peer_store/sim_rank.hpp"

#include <algorithm>

namespace overlaptune::sim {
namespace {

/// Times of a tile after it is multiplied.
struct Left {
  double free = 0;   ///< its consumers are free
  double done = 0;   ///< it has left the SM
  double added = 0;  ///< part of the time until `free` in which they worked
};

/// Whether a tile lies at the right edge, and at the bottom.
struct Edges {
  bool right = false;
  bool bottom = false;
};

Edges edges_of(const TileOrder& part, std::int64_t tile) {
  const std::int64_t of_swizzle = part.columns() * part.swizzle;
  const std::int64_t first_panel = tile / of_swizzle * part.swizzle;
  const std::int64_t rest = tile % of_swizzle;
  const std::int64_t tall =
      std::min<std::int64_t>(part.swizzle, part.panels_per_block() - first_panel);
  return {.right = rest / tall + 1 == part.columns(),
          .bottom = first_panel + rest % tall + 1 == part.panels_per_block()};
}

}  // namespace

StoreRank::StoreRank(const StorePlan& plan, const StoreVariation& variation, int number)
    : plan_(plan),
      noise_(variation.noise.stream(static_cast<std::uint64_t>(number))),
      factor_(variation.gemm / variation.clock),
      spread_(variation.spread),
      number_(number),
      // The first store waits until all ranks have said that their slots are free again.
      link_(plan.link_rate / variation.link, plan.signal),
      sms_(plan.sms, plan.times.kernel_start * factor_),
      groups_(plan.order.groups.size()),
      sent_to_(static_cast<std::size_t>(plan.order.ranks)) {}

/// Gives a tile to an SM. `leave(t, e)` is asked what becomes of a tile that is multiplied at t,
/// and whose consumer's buffers are empty at e.
template <class Leave>
void StoreRank::compute(std::int64_t tile, std::size_t group, const Leave& leave) {
  Sm& sm = sms_.take();
  groups_[sm.group].stalled += sm.stalled;
  const double time = time_of(tile, group) * factor_ * (1 + spread_ * noise_.normal(count_++));
  const double multiplied = sm.next + time;
  // The consumer's tile before was handed over to the buffers.
  const Left left = leave(multiplied, plan_.ping_pong ? sm.before : sm.done);
  // Without turns, the consumers of this tile are those of the next one.
  const double next = plan_.ping_pong ? std::max(multiplied, sm.free) : left.free;
  const double worked = multiplied + (plan_.ping_pong ? 0 : left.added);
  sm = {.next = next,
        .free = left.free,
        .done = left.done,
        .before = sm.done,
        .stalled = std::max(0.0, next - worked),
        .group = group};
  multiplied_ = std::max(multiplied_, multiplied);
  done_ = std::max(done_, left.done);
}

StoreRank::Sent StoreRank::send(double time, double emptied, double bytes) {
  const double held = plan_.held * bytes;
  const double free = held < bytes ? link_.send(time, bytes - held) : time;
  const double done = held > 0 ? link_.send(time, held) : free;
  return {.free = std::max(free, emptied), .done = done};
}

void StoreRank::send_shares(std::size_t index) {
  StoredGroup& group = groups_[index];
  for (int turn = 1; turn < plan_.order.ranks; ++turn) {
    const int owner = (number_ + turn) % plan_.order.ranks;
    const TileRange share = plan_.order.share(index, owner);
    double& last_sent = sent_to_[static_cast<std::size_t>(owner)];
    for (std::int64_t tile = share.begin; tile < share.end; ++tile) {
      // A slot holds a whole tile. C has no room for what lies outside.
      const double bytes =
          plan_.adds_up ? static_cast<double>(slot_bytes(plan_.order)) : bytes_of(tile);
      compute(tile, index, [&](double multiplied, double emptied) {
        group.computed = std::min(group.computed, multiplied);
        group.start = std::min(group.start, std::max(multiplied, link_.free()));
        const Sent sent = send(multiplied, emptied, bytes);
        last_sent = std::max(last_sent, sent.done);
        return Left{.free = sent.free, .done = sent.done};
      });
    }
  }
  group.sent = *std::max_element(sent_to_.begin(), sent_to_.end());
}

void StoreRank::compute_own(std::size_t index, double arrived) {
  const TileRange share = plan_.order.share(index, number_);
  const double added = plan_.add_up * factor_;
  for (std::int64_t tile = share.begin; tile < share.end; ++tile) {
    compute(tile, index, [&](double multiplied, double emptied) {
      if (!plan_.adds_up) return Left{.free = multiplied, .done = multiplied};
      const double summed = std::max(multiplied, arrived + plan_.receive) + added;
      if (!plan_.spreads) return Left{.free = summed, .done = summed, .added = added};
      const Sent sent = send(summed, emptied, bytes_of(tile) * (plan_.order.ranks - 1));
      groups_[index].sent = std::max(groups_[index].sent, sent.done);
      return Left{.free = sent.free, .done = sent.done, .added = added};
    });
  }
  if (plan_.spreads) link_.stand_still(plan_.sum_gap);
}

double StoreRank::time_of(std::int64_t tile, std::size_t group) const {
  const auto [right, bottom] = edges_of(plan_.order.part, tile);
  const TileTimes& times = plan_.times;
  const double time =
      right ? (bottom ? times.corner : times.right) : (bottom ? times.bottom : times.whole);
  const std::int64_t owners = plan_.order.owns_blocks ? plan_.order.ranks : 1;
  const std::int64_t tiles = plan_.order.groups[group].tiles.count() * owners;
  const double beyond_a_wave = std::max(0.0, 1 - plan_.sms / static_cast<double>(tiles));
  return time * (1 + plan_.apart * beyond_a_wave);
}

double StoreRank::bytes_of(std::int64_t tile) const {
  const TileOrder& part = plan_.order.part;
  const auto [right, bottom] = edges_of(part, tile);
  const std::int64_t rows =
      bottom ? part.block_rows - (part.panels_per_block() - 1) * part.block_m : part.block_m;
  const std::int64_t columns = right ? part.n - (part.columns() - 1) * part.block_n : part.block_n;
  return static_cast<double>(rows * columns * result_bytes(part.elements));
}

}  // namespace overlaptune::sim
