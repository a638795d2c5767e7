// The rows of A that the ranks of an all-gather bring one another, for the generated GEMMs that
// wait for them (`waiting`): which tiles need which rows, and the rows that this launch itself
// sends. In front of these GEMMs, behind tiles.cu and waits.cu.
//
// Rows are sent by copy engines, or by the launch: then its queue has items that push rows beside
// those that compute tiles (`PushOrder` in core/push_order.hpp).
//
// Macros: WAITS, the most wave groups that a launch waits for.

/// A wave group: consecutive tiles, up to tile `end` (exclusive), whose rows of A are there when
/// `*counter` is at least `value`; and the rows of this rank that a peer's group of the same number
/// needs, where the launch sends them: vectors of 16 bytes, cut into shares of `most` vectors.
struct Arrival {
  int end;
  u32 value;
  const u32* counter;  // null: the rows are there
  const uint4* from;
  uint4* to;
  u32* receiver;  // the counter that the peer has for its group
  int vectors;
  int most;
};

struct Peers {
  const void* own;  // the row block that needs no copy; its number is `own_block`
  int own_block;
  int blocks;  // row blocks
  int block_tiles;
  int arrivals_count;
  // `PushOrder`, in items; `pushes` is 0 where the launch sends no rows.
  int pushes;
  int first;
  int period_tiles;
  int period_pushes;
  int pushing;         // clusters that only push where all are there; 0: all take whatever comes
  int shares;          // of a group's rows; each is pushed by one CTA
  int shares_an_item;  // 1, or 2 where the CTAs of a cluster push one each
  Arrival arrivals[WAITS];
};

/// The place of a tile: row block after row block, from the rank's own one downwards. In `order`
/// there is one block.
template <class Order>
__device__ __forceinline__ Place place_in(const Order& order, const Peers& peers, int tile) {
  const int turn = tile / peers.block_tiles;
  Place place = place_of(order, tile - turn * peers.block_tiles);
  place.block = peers.own_block - turn + (turn > peers.own_block ? peers.blocks : 0);
  return place;
}

/// Waits until the rows of the tile are there. `group`: the wave group that this thread waited for
/// last, -1 at first; it ascends: all homes (homes.cu) are of
/// group 0, and the tiles behind them ascend. The rows may then be read in any way: by this
/// thread, or by copies that it starts.
__device__ __forceinline__ void wait_for_rows(const Run& run, const Peers& peers, int tile,
                                              int& group) {
  if (group >= 0 && tile < peers.arrivals[group].end) return;
  do {
    ++group;
  } while (tile >= peers.arrivals[group].end);
  const Arrival& arrival = peers.arrivals[group];
  if (arrival.counter == nullptr) return;
  wait_for(run, arrival.counter, arrival.value, kCounter, group);
  fence_copies();  // TMA reads what the counter says is there
}

/// An item of the queue: a push, or a tile, by its number among those.
struct Turn {
  bool pushes;
  int number;
};
__device__ __forceinline__ Turn turn_at(const Peers& peers, int position) {
  int before = position;  // pushes before it
  bool pushes = position < peers.pushes;
  if (position >= peers.first) {
    const int period = peers.period_tiles + peers.period_pushes;
    const int turn = (position - peers.first) / period;
    const int extra = position - peers.first - turn * period - peers.period_tiles;
    before = peers.first + turn * peers.period_pushes + (extra > 0 ? extra : 0);
    pushes = extra >= 0 && before < peers.pushes;
    before = before < peers.pushes ? before : peers.pushes;
  }
  return {pushes, pushes ? before : position - before};
}

/// The positions of a push and of a tile, by their numbers.
__device__ __forceinline__ int position_of_push(const Peers& peers, int number) {
  if (number < peers.first) return number;
  const int turn = (number - peers.first) / peers.period_pushes;
  return number + (turn + 1) * peers.period_tiles;
}
__device__ __forceinline__ int position_of_tile(const Peers& peers, int number) {
  const int before = peers.first + number / peers.period_tiles * peers.period_pushes;
  return number + (before < peers.pushes ? before : peers.pushes);
}

/// The position behind `position` of a cluster that goes on by equal steps. Clusters that begin
/// with a push have no tiles: a push may take as long as ten of them, and who had both would end
/// last.
__device__ __forceinline__ int step_from(const Run& run, const Peers& peers, int position) {
  if (peers.pushing == 0) return position + run.clusters;
  const Turn turn = turn_at(peers, position);
  if (!turn.pushes) {
    return position_of_tile(peers, turn.number + run.clusters - peers.pushing);
  }
  const int next = turn.number + peers.pushing;
  return next < peers.pushes ? position_of_push(peers, next) : run.items;
}

/// A share of the rows of a group: vectors of 16 bytes for one rank, and that rank's counter of the
/// group.
struct Push {
  const uint4* from;
  uint4* to;
  u32* counter;
  int vectors;
  int most;  // vectors of the largest share of the group
};

/// Puts a share in its place, given its number, counted through all groups that are sent.
template <class Place>
__device__ __forceinline__ void put_push(const Peers& peers, int number, Place& push) {
  const int sent = number / peers.shares;
  const Arrival& group = peers.arrivals[sent + 1];  // the first group needs no rows of others
  const int wanted = (number - sent * peers.shares) * group.most;
  const int begin = wanted < group.vectors ? wanted : group.vectors;
  push.vectors = group.vectors - begin < group.most ? group.vectors - begin : group.most;
  push.most = group.most;
  push.from = group.from + begin;
  push.to = group.to + begin;
  push.counter = group.receiver;
}
