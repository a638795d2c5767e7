// The functions of kernels/device/instructions.cu and hopper_instructions.cu on the host, and
// CUDA's own that the texts use. Included within a namespace, without a guard, before the texts.
//
// A load notes which tile and step a stage has; a consumer's product checks that it reads the steps
// of one tile, one after the other; what it writes into slabs is the tile's tag; a store checks
// that the slab is one of the tile that is stored there.

using u64 = unsigned long long;
using u32 = unsigned;
using emulator::kLanes;
using emulator::machine;
using emulator::Tag;

#define threadIdx emulator::thread_idx
#define blockIdx emulator::block_idx
#define gridDim emulator::grid_dim

struct uint4 {
  unsigned x, y, z, w;
};

inline void __syncthreads() {
  machine->meet_in_cta();
}
inline void __syncwarp() {
  machine->meet_in_warp();
}
inline void __threadfence() {}
inline u32 atomicAdd(u32* word, u32 value) {
  machine->jitter();
  return std::atomic_ref(*word).fetch_add(value);
}
inline u32 atomicOr(u32* word, u32 bits) {
  machine->jitter();
  return std::atomic_ref(*word).fetch_or(bits);
}
inline u32 atomicCAS(u32* word, u32 expected, u32 value) {
  machine->jitter();
  std::atomic_ref(*word).compare_exchange_strong(expected, value);
  return expected;
}
inline int __ffs(int bits) {
  return bits == 0 ? 0 : std::countr_zero(static_cast<u32>(bits)) + 1;
}
inline int __popc(u32 bits) {
  return std::popcount(bits);
}
inline u32 atomicMax(u32* word, u32 value) {
  std::atomic_ref shared(*word);
  u32 now = shared.load();
  while (now < value && !shared.compare_exchange_weak(now, value)) {
  }
  return now;
}

// instructions.cu

inline int lane_of_warp() {
  return static_cast<int>(threadIdx.x) % 32;
}
inline u32 shared_address(const void* pointer) {
  return emulator::Machine::address_of(pointer);
}
inline int from_lane(int value, int lane) {
  return machine->from_lane(value, lane);
}
inline u32 packed(float, float) {
  return 0;
}
inline void add_packed(float&, float&, u32) {}
inline bool has_reached(const u32* word, u32 value) {
  machine->jitter();
  const u32 now = std::atomic_ref(*const_cast<u32*>(word)).load();
  const bool reached = static_cast<int>(now - value) >= 0;
  if (reached) {
    machine->went_on();
  } else {
    machine->look_again();
  }
  return reached;
}
inline void increment(u32* word, u32 by) {
  machine->jitter();
  std::atomic_ref(*word).fetch_add(by);
}
inline void publish(u32* word, u32 value) {
  std::atomic_ref(*word).store(value);
}
inline u32 seen(const u32* word) {
  machine->jitter();
  return std::atomic_ref(*const_cast<u32*>(word)).load();
}
inline u32 exchanged(u32* word, u32 value) {
  return std::atomic_ref(*word).exchange(value);
}
inline void raise(u32* word, u32 value) {
  atomicMax(word, value);
}
inline void wait_for_launch_before() {}
inline u64 nanoseconds() {
  return 1U << 20U;
}  // time stands still: no wait ends by it
inline void hide(int&) {}
inline void fence_copies() {}

// hopper_instructions.cu

/// Uses of a tensor map.
enum Operand : char { kOperandA, kOwnA, kOperandB, kResult };
struct TensorMap {
  Operand operand;
  int matrix;  // of a result
};

inline void barrier_init(u32 barrier, u32 count) {
  machine->init(barrier, count);
}
inline void barrier_expect(u32 barrier, u32 bytes) {
  machine->expect(barrier, bytes);
}
inline void barrier_arrive(u32 barrier) {
  machine->arrive(barrier);
}
inline void barrier_wait(u32 barrier, u32 phase) {
  machine->wait(barrier, phase);
}
inline u32 cluster_rank() {
  return emulator::cta->cluster == 2 ? blockIdx.x % 2 : 0;
}
inline u32 at_other(u32 address) {
  return address ^ emulator::Machine::kMemory;
}
inline void cluster_barrier() {
  machine->meet_in_cluster();
}
inline void send_to_other(u32 to, u32 value, u32 barrier) {
  machine->jitter();
  std::memcpy(machine->at(at_other(to)), &value, sizeof value);
  machine->complete(at_other(barrier), sizeof value);
}
inline void barrier_arrive_at_other(u32 barrier) {
  barrier_arrive(at_other(barrier));
}
inline void prefetch(const TensorMap*) {}

/// Bytes that one load of an operand brings.
inline u32 bytes_of(Operand operand) {
  return (operand == kOperandB ? BLOCK_N / CLUSTER : BLOCK_M) * 128;
}
inline void load(u32 to, const TensorMap* map, u32 barrier, int x, int y, int z) {
  const bool is_b = map->operand == kOperandB;
  if (map->operand == kOperandA) note_load(map->matrix, x, y, z);
  // This rank's own rows are not those of block 0 of the gathered ones.
  const int block = map->operand == kOwnA ? 1000 : z;
  machine->note_load(
      to, {.block = is_b ? 0 : block, .row = is_b ? 0 : y, .column = is_b ? y : 0, .step = x / 64});
  machine->jitter();
  machine->complete(barrier, bytes_of(map->operand));
}
inline void load_for_both(u32 to, const TensorMap* map, u32 barrier, int x, int y, int z) {
  load(to, map, barrier, x, y, z);
  load(at_other(to), map, at_other(barrier), x, y, z);
}
inline void store(const TensorMap* map, u32 from, int x, int y, int z) {
  Tag tile;
  std::memcpy(&tile, machine->at(from), sizeof tile);
  if (x < tile.column || x >= tile.column + BLOCK_N || y < tile.row || y >= tile.row + BLOCK_M) {
    machine->fail("a slab that is stored in another tile");
  }
  note_store(map->matrix, x, y, z);
}
inline void load_bytes(u32 to, const char* from, u32 barrier, u32 bytes) {
  std::memcpy(machine->at(to), from, bytes);
  machine->complete(barrier, bytes);
}
inline void store_bytes(char* to, u32 from, u32 bytes) {
  std::memcpy(to, machine->at(from), bytes);
}
inline u64 descriptor(u32 address) {
  return address;
}
inline void end_stores() {}
template <int kLeft>
void wait_for_reads() {}
inline void wait_for_stores() {}
inline void fence_shared() {}
inline void fence_barriers() {}
inline void consumer_barrier(int) {
  machine->meet_in_consumer();
}
template <int kRegisters>
void give_registers() {}
template <int kRegisters>
void take_registers() {}
/// The warps of a consumer issue a product together.
inline void begin_wgmma() {
  machine->meet_in_consumer();
}
inline void end_wgmma() {}
template <int kLeft>
void wait_for_wgmma() {
  if (kLeft == 0) machine->meet_in_consumer();
}
inline void completed(float&) {}

/// Objects of a CTA follow one another in its memory, before what is dynamic.
inline std::atomic<std::size_t> objects_end = 0;
template <class T>
T& shared_object() {
  static const std::size_t offset = objects_end.fetch_add((sizeof(T) + 1023) / 1024 * 1024);
  return *reinterpret_cast<T*>(emulator::cta->memory.data() + offset);
}
inline char* dynamic_memory() {
  constexpr std::size_t kObjects = 16 << 10;
  return emulator::cta->memory.data() + kObjects;
}

/// One product of a consumer's steps: notes the tile, and the step. A step is several products.
inline void multiply(float*, u64 a, u64 b, int add) {
  const u32 memory = shared_address(dynamic_memory());
  const u32 stages = (memory + 1023) / 1024 * 1024;
  constexpr u32 kStage = (BLOCK_M + BLOCK_N) * 128;
  const u32 stage = stages + (static_cast<u32>(a) - stages) / kStage * kStage;
  if (stage != stages + (static_cast<u32>(b) - stages) / kStage * kStage) {
    machine->fail("operands of two stages");
  }
  const Tag of_a = machine->loaded_at(stage);
  const Tag of_b = machine->loaded_at(stage + BLOCK_M * 128);
  const Tag tile{.block = of_a.block, .row = of_a.row, .column = of_b.column, .step = of_a.step};
  if (of_a.step != of_b.step) machine->fail("A and B of two steps");
  Tag& mine = emulator::multiplied;
  if (add == 0) {
    mine = tile;
    return;
  }
  const bool next = tile.step == mine.step || tile.step == mine.step + 1;
  mine.step = tile.step;
  if (!next || !(tile == mine)) machine->fail("a step of another tile, or out of order");
}

/// The tag of the consumer's tile, whose last step has been multiplied.
inline Tag finished_tile() {
  if (emulator::multiplied.step != last_step_of_cta()) machine->fail("a tile that is not finished");
  return emulator::multiplied;
}
inline void put_tag(u32 at) {
  const Tag tile = finished_tile();
  std::memcpy(machine->at(at), &tile, sizeof tile);
}
/// Checks that what is added is of the same tile. The steps may be others.
inline void check_tag(u32 at) {
  Tag theirs;
  std::memcpy(&theirs, machine->at(at), sizeof theirs);
  const Tag mine = finished_tile();
  if (theirs.row != mine.row || theirs.column != mine.column) machine->fail("adds another tile");
}
template <bool kTransposes>
void store_matrices(u32 at, u32, u32, u32, u32) {
  put_tag(at);
}
inline void store_words(u32 at, u32, u32, u32, u32) {
  put_tag(at);
}
inline void read_words(u32 at, u32 (&)[4]) {
  check_tag(at);
}
inline void store_sums(u32 there, const float*) {
  put_tag(there);
}
inline void read_sums(u32 at, float (&)[4]) {
  check_tag(at);
}
inline void store_word(u32 at, u32 word) {
  std::atomic_ref(*reinterpret_cast<u32*>(machine->at(at))).store(word);
}
inline u32 word_at(u32 at) {
  return std::atomic_ref(*reinterpret_cast<u32*>(machine->at(at))).load();
}
