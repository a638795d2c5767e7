// C = A * B^T with mma.sync: A is rows x k, B is n x k, C is rows x n, all row-major, 2-byte
// elements, sums in fp32. For sm_80 and sm_89, and for any later GPU that has no kernel of its own.
// A persistent launch has one CTA on each SM. All threads copy tiles of A and B into a ring of
// stages (cp.async), always STAGES - 1 steps of k ahead. They copy ahead past the end of a tile,
// too: the first steps of the next tile arrive while C is stored. Each wave group has a counter; it
// is incremented when one of the group's tiles is in memory. Compiled at run time, after the text
// of tiles.cu and, where WAITS is not 0, those of waits.cu and rows.cu; includes nothing. Macros,
// all given by the caller of the compiler (kernels/ampere_gemm.cpp):
//   BLOCK_M, BLOCK_N  tile; a step of k is 64, one swizzled row of 128 bytes
//   STAGES            stages of the ring, 2 or more
//   WARPS_M, WARPS_N  warps that share the rows, and the columns, of a tile
//   SLAB              columns of C that a warp turns into whole rows at a time: 16, 32 or 64
//   SEGMENTS          most segments that a launch may have
//   WAITS             as in rows.cu; 0: all rows are there
//   QUEUED            1: WAITS is not 0, and work comes from the queue of waits.cu
//   HALF              1: fp16, 0: bf16
//
// Sources: PTX ISA 8.x, "Matrix fragments for mma.m16n8k16 with floating point type", "ldmatrix",
// "cp.async", "cp.async.wait_group", "Memory consistency model" (causality order, release
// patterns).

using i64 = long long;

constexpr int kThreads = 32 * WARPS_M * WARPS_N;
constexpr int kBlockK = 64;
constexpr int kRowBytes = 2 * kBlockK;
constexpr int kABytes = BLOCK_M * kRowBytes;
constexpr int kStageBytes = (BLOCK_M + BLOCK_N) * kRowBytes;
/// Rows and columns of a warp.
constexpr int kRows = BLOCK_M / WARPS_M;
constexpr int kColumns = BLOCK_N / WARPS_N;
/// Number of mma.m16n8k16 of a warp: down, across, and along a step of k.
constexpr int kDown = kRows / 16;
constexpr int kAcross = kColumns / 8;
constexpr int kDeep = kBlockK / 16;
/// Bytes of a slab: 16 rows of C.
constexpr int kSlabBytes = 16 * SLAB * 2;
static_assert(BLOCK_M % (16 * WARPS_M) == 0 && BLOCK_N % (8 * WARPS_N) == 0 && STAGES >= 2);

/// Consecutive tiles, up to tile `end` (exclusive), that fill one matrix of every row block: its
/// rows from `first_row` on and its columns from `first_column` on. Strides in elements.
struct Segment {
  int end;
  int counter;  // counter of its wave group
  int first_row;
  int first_column;
  void* c;
  i64 row_stride;
  i64 block_stride;
};

/// The order of the tiles, as `TileOrder` in core/tiling.hpp.
struct Order {
  int panels;   // row panels of one row block
  int blocks;   // row blocks
  int columns;  // tiles across n
  int raster;
  int tiles;
  int k_steps;
  int early;      // tiles before the first CTAs leave
  int leaving;    // CTAs that leave then
  u32* counters;  // of the wave groups, up by 1 with each stored tile; null: none
  Segment segments[SEGMENTS];
};

/// Strides in elements, multiples of 8; every address a multiple of 16 bytes.
struct Operands {
  const void* a;  // [block][row][k]
  const void* b;  // [n][k]
  i64 a_block_stride;
  int a_stride;  // from row to row; at least k
  int b_stride;
  int rows;  // rows of one row block
  int n;
  int k;
};

/// Copies 16 bytes: the first `bytes` are read, the others become zero.
__device__ __forceinline__ void copy(u32 to, const char* from, u32 bytes) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(to), "l"(from), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void end_step() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

/// Waits until all but the last `pending` steps of this thread have arrived.
template <int pending>
__device__ __forceinline__ void wait_for_steps() {
  asm volatile("cp.async.wait_group %0;" ::"n"(pending) : "memory");
}

/// Loads four 8 x 8 matrices. Eight lanes give the rows of each.
__device__ __forceinline__ void load_four(u32 (&to)[4], u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(to[0]), "=r"(to[1]), "=r"(to[2]), "=r"(to[3])
               : "r"(from)
               : "memory");
}

__device__ __forceinline__ void load_two(u32 (&to)[2], u32 from) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%0, %1}, [%2];"
               : "=r"(to[0]), "=r"(to[1])
               : "r"(from)
               : "memory");
}

__device__ __forceinline__ void multiply(float (&sums)[4], const u32 (&a)[4], const u32 (&b)[2]) {
#if HALF
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
#else
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
#endif
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
}

__device__ __forceinline__ void put(u32 to, u32 pair) {
  asm volatile("st.shared.b32 [%0], %1;" ::"r"(to), "r"(pair) : "memory");
}

/// Stores 16 bytes of C, from shared memory.
__device__ __forceinline__ void deliver(char* to, u32 from) {
  asm volatile(
      "{\n"
      ".reg .b32 a, b, c, d;\n"
      "ld.shared.v4.b32 {a, b, c, d}, [%1];\n"
      "st.global.v4.b32 [%0], {a, b, c, d};\n"
      "}\n" ::"l"(to),
      "r"(from)
      : "memory");
}

/// Increments a counter, after a barrier that all storing threads have passed. What they stored
/// comes before the increment, for the whole system.
__device__ __forceinline__ void signal(u32* counter) {
  __threadfence_system();
  asm volatile("red.release.sys.global.add.u32 [%0], 1;" ::"l"(counter) : "memory");
}

/// The next step of k to copy, ahead of the multiplications.
struct Cursor {
  int tile;
  int step;
  const char* a;  // row 0 of the row block
  int row;        // of A, for this thread's first copy
  int column;     // of C, and row of B, likewise
  int group;      // wave group whose rows this thread has waited for
};

/// The tiles of this CTA, which it begins to copy long before it multiplies them.
struct Tiles {
  static constexpr int kKept = 16;  // more than the tiles whose steps fill the ring
  int taken[kKept];
  int count;
  int next;  // position
};

#if QUEUED

/// Takes the next tile from the queue, and works off the pushes before it. By all threads. `ahead`:
/// the next position, in thread 0.
__device__ __forceinline__ int take_tile(const Run& run, const Order& order, const Peers& peers,
                                         Tiles& tiles, Claim& ahead) {
  while (true) {
    __syncthreads();  // all have read the last position
    if (threadIdx.x == 0) {
      tiles.next = position_of(run, ahead);
      if (tiles.next >= run.items) {
        tell_left_out(run, ahead.dead);
        ends_queue(run, tiles.next);
      }
    }
    __syncthreads();
    const int position = tiles.next;
    if (position >= run.items) return order.tiles;
    const Turn turn = turn_at(peers, position);
    if (!turn.pushes) return turn.number;
    if (threadIdx.x == 0) ahead = claim(run);
    Push push;
    put_push(peers, turn.number, push);
    // One vector at a time: the registers are full of sums.
#pragma unroll 1
    for (int at = static_cast<int>(threadIdx.x); at < push.vectors; at += kThreads) {
      push.to[at] = read_past_l1(push.from + at);
    }
    __syncthreads();
    if (threadIdx.x == 0) increment(push.counter, 1);
  }
}

/// The begin of a launch: asks for the first position, and, if no gate has met the ranks, meets
/// them before rows are pushed.
__device__ __forceinline__ Claim begin(const Run& run, const Peers& peers) {
  Claim ahead{};
  if (threadIdx.x == 0) ahead = claim(run);
  if (peers.pushes > 0 && run.meets != 0 && threadIdx.x < 32) {
    if (from_lane(ahead.position, 0) == 0) open(run);
    meet(run, gridDim.x);
  }
  return ahead;
}

#endif

/// Moves the cursor to the CTA's next tile. By all threads.
__device__ __forceinline__ void go_on(Cursor& cursor, const Operands& operands, const Order& order,
                                      const Peers& peers, const Run& run, Tiles& tiles,
                                      Claim& ahead) {
#if QUEUED
  const int tile = take_tile(run, order, peers, tiles, ahead);
#else
  const int tile = cursor.tile < 0 ? first_tile(order) : next_tile(order, cursor.tile);
#endif
  if (threadIdx.x == 0) tiles.taken[tiles.count++ % Tiles::kKept] = tile;
  cursor.tile = tile;
  cursor.step = 0;
  if (tile >= order.tiles) return;
#if QUEUED
  const Place place = place_in(order, peers, tile);
  wait_for_rows(run, peers, tile, cursor.group);
  // Not before: it would keep an item that another CTA could work on.
  if (threadIdx.x == 0) ahead = claim(run);
#else
  const Place place = place_of(order, tile);
#endif
  const int row = static_cast<int>(threadIdx.x) / 8;
  cursor.a = static_cast<const char*>(operands.a) + 2 * place.block * operands.a_block_stride;
#if WAITS
  if (place.block == peers.own_block) cursor.a = static_cast<const char*>(peers.own);
#endif
  cursor.row = place.row + row;
  cursor.column = place.column + row;
}

/// Copies ROWS rows of 128 bytes. Rows beyond `last` are copies of it; their products are not
/// stored.
template <int ROWS>
__device__ __forceinline__ void load_rows(u32 to, const char* from, int stride, int row, int last,
                                          u32 bytes) {
  constexpr int kPass = kThreads / 8;  // rows; a multiple of 8, so that the swizzle stays the same
#pragma unroll
  for (int i = 0; i < ROWS; i += kPass) {
    if (i + kPass > ROWS && static_cast<int>(threadIdx.x) / 8 >= ROWS - i) break;
    const int wanted = row + i;
    const i64 offset = static_cast<i64>(wanted < last ? wanted : last) * stride;
    copy(to + i * kRowBytes, from + offset, bytes);
  }
}

/// Copies one step of k of A and B, if there is one left, and moves the cursor to the next.
__device__ __forceinline__ void load_step(Cursor& cursor, const Operands& operands,
                                          const Order& order, const Peers& peers, const Run& run,
                                          Tiles& tiles, Claim& ahead, u32 stage) {
  if (cursor.tile < order.tiles) {
    const int row = static_cast<int>(threadIdx.x) / 8;
    const int chunk = static_cast<int>(threadIdx.x) % 8;
    const u32 to = stage + row * kRowBytes + (chunk ^ (row & 7)) * 16;
    const int first = cursor.step * kBlockK + chunk * 8;
    const int left = operands.k - first;
    const u32 bytes = left >= 8 ? 16 : left > 0 ? 2 * left : 0;
    // The address stays inside the row even where nothing is read.
    const int offset = left > 0 ? 2 * first : 0;
    load_rows<BLOCK_M>(to, cursor.a + offset, 2 * operands.a_stride, cursor.row, operands.rows - 1,
                       bytes);
    load_rows<BLOCK_N>(to + kABytes, static_cast<const char*>(operands.b) + offset,
                       2 * operands.b_stride, cursor.column, operands.n - 1, bytes);
    if (++cursor.step == order.k_steps) {
      go_on(cursor, operands, order, peers, run, tiles, ahead);
    }
  }
  end_step();  // an empty step too, because waits count them
}

/// The operands that a warp multiplies at a time: 16 elements of k.
struct Fragments {
  u32 a[kDown][4];
  u32 b[kAcross][2];
};

/// Loads the operands of part `k` of a stage. `a` and `b`: the addresses in the stage that this
/// lane gives for k = 0.
__device__ __forceinline__ void load_fragments(Fragments& fragments, u32 a, u32 b, int k) {
  // Column group 2 * k + (0 or 1) of a row. The swizzle is an exclusive or, so another one with
  // these bits turns the address for k = 0 into the address for k.
  const u32 turned_a = a ^ (32 * k);
  const u32 turned_b = b ^ (32 * k);
#pragma unroll
  for (int i = 0; i < kDown; ++i) load_four(fragments.a[i], turned_a + i * 16 * kRowBytes);
#pragma unroll
  for (int i = 0; i + 1 < kAcross; i += 2) {
    u32 two[4];
    load_four(two, turned_b + i * 8 * kRowBytes);
    fragments.b[i][0] = two[0];
    fragments.b[i][1] = two[1];
    fragments.b[i + 1][0] = two[2];
    fragments.b[i + 1][1] = two[3];
  }
  if (kAcross % 2 == 1) {
    load_two(fragments.b[kAcross - 1], turned_b + (kAcross - 1) * 8 * kRowBytes);
  }
}

/// The offset in a slab of the 16 bytes of column group `chunk` of a row. It is swizzled, so that
/// neither 8 rows of one column group nor the groups of a row meet in a bank.
__device__ __forceinline__ u32 slab_offset(int row, int chunk) {
  const int turn = SLAB == 64 ? row & 7 : SLAB == 32 ? (row >> 1) & 3 : (row >> 2) & 1;
  return static_cast<u32>(row * SLAB * 2 + (chunk ^ turn) * 16);
}

/// Stores this warp's part of a tile through the warp's own slab, so that no other warp is waited
/// for. `c`: the address that row 0 and column 0 of the row block would have.
__device__ __forceinline__ void store(const float (&sums)[kDown][kAcross][4], char* c, i64 stride,
                                      int row, int rows, int column, int n, u32 slab) {
  int lane = static_cast<int>(threadIdx.x) % 32;
  // Keeps the compiler from holding values that follow from `lane` in registers while the sums
  // grow.
  asm volatile("" : "+r"(lane));
#pragma unroll
  for (int i = 0; i < kDown; ++i) {
#pragma unroll
    for (int first = 0; first < kAcross; first += SLAB / 8) {
      const int chunks = kAcross - first < SLAB / 8 ? kAcross - first : SLAB / 8;
#pragma unroll
      for (int j = 0; j < chunks; ++j) {
        const float(&sum)[4] = sums[i][first + j];
        put(slab + slab_offset(lane / 4, j) + lane % 4 * 4, packed(sum[0], sum[1]));
        put(slab + slab_offset(lane / 4 + 8, j) + lane % 4 * 4, packed(sum[2], sum[3]));
      }
      __syncwarp();
#pragma unroll
      for (int round = 0; round < 16 * chunks; round += 32) {
        const int piece = round + lane;
        if (piece >= 16 * chunks) break;  // half a warp is enough for the last odd chunk
        const int in_slab = piece / chunks;
        const int chunk = piece - in_slab * chunks;
        const int to_row = row + i * 16 + in_slab;
        const int to_column = column + (first + chunk) * 8;
        if (to_row < rows && to_column < n) {
          deliver(c + 2 * (to_row * stride + to_column), slab + slab_offset(in_slab, chunk));
        }
      }
      __syncwarp();
    }
  }
}

extern "C" __global__ void __launch_bounds__(kThreads, 1)
    ampere_gemm(const __grid_constant__ Operands operands, const __grid_constant__ Order order
#if QUEUED
                ,
                const __grid_constant__ Peers peers, const __grid_constant__ Run run
#endif
    ) {
  __shared__ Tiles tiles;
  if (threadIdx.x == 0) tiles.count = 0;
#if QUEUED
  Claim ahead_in_queue = begin(run, peers);
#else
  const Peers peers{};
  const Run run{};
  Claim ahead_in_queue{};
#endif
  alignas(128) extern __shared__ char memory[];
  const int warp = static_cast<int>(threadIdx.x) / 32;
  const int lane = static_cast<int>(threadIdx.x) % 32;
  const int first_row = warp / WARPS_N * kRows;
  const int first_column = warp % WARPS_N * kColumns;
  const u32 ring = shared_address(memory);
  const u32 end = ring + STAGES * kStageBytes;
  const u32 slab = end + warp * kSlabBytes;
  // This lane gives the address of one row of four 8 x 8 matrices. For A they are rows 0-7 and 8-15
  // of the first 8 of k, then of the second. For B they are the first and second 8 of k of rows
  // 0-7, then of rows 8-15.
  const u32 a_row = first_row + lane % 16;
  const u32 a_offset = a_row * kRowBytes + ((lane / 16) ^ (a_row & 7)) * 16;
  const u32 b_row = first_column + lane / 16 * 8 + lane % 8;
  const u32 b_offset = kABytes + b_row * kRowBytes + ((lane / 8 & 1) ^ (b_row & 7)) * 16;

  Cursor ahead;
  ahead.tile = -1;
  ahead.group = -1;
  go_on(ahead, operands, order, peers, run, tiles, ahead_in_queue);
#pragma unroll 1
  for (u32 filled = ring; filled != end; filled += kStageBytes) {
    load_step(ahead, operands, order, peers, run, tiles, ahead_in_queue, filled);
  }
  wait_for_steps<STAGES - 1>();
  __syncthreads();
  Fragments fragments[2];
  load_fragments(fragments[0], ring + a_offset, ring + b_offset, 0);

  u32 stage = ring;
  int index = 0;
  for (int number = 0;; ++number) {
    const int tile = tiles.taken[number % Tiles::kKept];
    if (tile >= order.tiles) break;
    float sums[kDown][kAcross][4] = {};
#pragma unroll 1
    for (int step = 0; step < order.k_steps; ++step) {
      const u32 next = stage + kStageBytes == end ? ring : stage + kStageBytes;
#pragma unroll
      for (int k = 0; k < kDeep; ++k) {
        if (k + 1 < kDeep) {
          load_fragments(fragments[(k + 1) % 2], stage + a_offset, stage + b_offset, k + 1);
        } else {
          // Only the last STAGES - 2 steps may still be under way: this thread's copies of the next
          // step have arrived. After the barrier the whole step is here, and no thread reads this
          // stage any more. (After the very last step the next stage holds an old one, whose
          // operands are not multiplied.)
          wait_for_steps<STAGES - 2>();
          __syncthreads();
          load_fragments(fragments[0], next + a_offset, next + b_offset, 0);
          load_step(ahead, operands, order, peers, run, tiles, ahead_in_queue, stage);
        }
#pragma unroll
        for (int i = 0; i < kDown; ++i) {
#pragma unroll
          for (int j = 0; j < kAcross; ++j) {
            multiply(sums[i][j], fragments[k % 2].a[i], fragments[k % 2].b[j]);
          }
        }
      }
      stage = next;
    }

    while (tile >= order.segments[index].end) ++index;
    const Segment& segment = order.segments[index];
#if QUEUED
    const Place place = place_in(order, peers, tile);
#else
    const Place place = place_of(order, tile);
#endif
    char* c = static_cast<char*>(segment.c) +
              2 * (place.block * segment.block_stride - segment.first_row * segment.row_stride -
                   segment.first_column);
    store(sums, c, segment.row_stride, place.row + first_row, operands.rows,
          place.column + first_column, operands.n, slab);
    if (order.counters != nullptr) {
      __syncthreads();
      if (threadIdx.x == 0) signal(order.counters + segment.counter);
    }
  }
  if (threadIdx.x == 0) wait_for_launch_before();
}
