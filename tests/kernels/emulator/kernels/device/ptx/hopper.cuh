#pragma once
// The functions of kernels/device/ptx/hopper.cuh on the host.
//
// A load notes which tile and step a stage has; a consumer's product (wgmma.cuh) checks that it
// reads the steps of one tile, one after the other; what it writes into subtiles is the tile's tag;
// a store checks that the subtile is one of the tile that is stored there. Bulk stores of bytes,
// and those of steps at a peer, read and write as late as a GPU may: where the thread that began
// them has waited for it.

#include <atomic>
#include <cstring>
#include <vector>

#include "kernels/device/ptx/common.cuh"
#include "tests/kernels/emulator/run.hpp"

namespace overlaptune::kernels::device {

using emulator::Tag;

/// Uses of a tensor map.
enum Operand : char { kOperandA, kOwnA, kOperandB, kResult, kAtPeer };
struct Mapped {
  Operand operand;
  int matrix;  // of a result; of rows at a peer
};
inline TensorMap map_of(Operand operand, int matrix) {
  const Mapped mapped{operand, matrix};
  TensorMap map{};
  std::memcpy(map.opaque, &mapped, sizeof mapped);
  return map;
}
inline Mapped mapped_by(const TensorMap* map) {
  Mapped mapped;
  std::memcpy(&mapped, map->opaque, sizeof mapped);
  return mapped;
}

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
  return emulator::own.cta->cluster == 2 ? blockIdx.x % 2 : 0;
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

/// In tags: this rank's own rows are not those of block 0 of the gathered ones.
constexpr int kOwnBlock = 1000;

/// Bytes that one load of an operand brings.
inline u32 bytes_of(Operand operand) {
  const emulator::Tile& tile = emulator::tile;
  return static_cast<u32>(operand == kOperandB ? tile.columns / tile.cluster : tile.rows) * 128;
}
inline void load(u32 to, const TensorMap* map, u32 barrier, int x, int y, int z) {
  const auto [operand, matrix] = mapped_by(map);
  const bool is_b = operand == kOperandB;
  if (operand == kOperandA && emulator::on_load) emulator::on_load(matrix, x, y, z);
  const int block = operand == kOwnA ? kOwnBlock : z;
  machine->note_load(
      to, {.block = is_b ? 0 : block, .row = is_b ? 0 : y, .column = is_b ? y : 0, .step = x / 64});
  machine->jitter();
  machine->complete(barrier, bytes_of(operand));
}
inline void load_for_both(u32 to, const TensorMap* map, u32 barrier, int x, int y, int z) {
  load(to, map, barrier, x, y, z);
  load(at_other(to), map, at_other(barrier), x, y, z);
}
/// Those of the thread that runs.
inline std::vector<std::vector<emulator::LateStore>>& store_groups() {
  auto& groups = emulator::own.cta->stores[threadIdx.x];
  if (groups.empty()) groups.emplace_back();
  return groups;
}
/// Stores a step of this rank's own rows at a peer.
inline void store_step_at_peer(int matrix, u32 from, int x, int y) {
  const auto reads = [=] {
    const Tag there = machine->loaded_at(from);
    if (there.block != kOwnBlock || there.row != y || there.step != x / 64)
      machine->fail("pushes another step");
  };
  store_groups().back().push_back(
      {.reads = reads, .arrives = [=] { emulator::on_push(matrix, x, y); }});
}
inline void store(const TensorMap* map, u32 from, int x, int y, int z) {
  const auto [operand, matrix] = mapped_by(map);
  if (operand == kAtPeer) return store_step_at_peer(matrix, from, x, y);
  Tag tile;
  std::memcpy(&tile, machine->at(from), sizeof tile);
  if (x < tile.column || x >= tile.column + emulator::tile.columns || y < tile.row ||
      y >= tile.row + emulator::tile.rows) {
    machine->fail("a subtile that is stored in another tile");
  }
  emulator::on_store(matrix, x, y, z);
}
inline void check_bytes(u32 shared, u32 bytes) {
  if (shared % 16 != 0 || bytes == 0 || bytes % 16 != 0)
    machine->fail("a bulk copy of no bytes, or not of 16 by 16");
}
inline void load_bytes(u32 to, const char* from, u32 barrier, u32 bytes) {
  check_bytes(to, bytes);
  std::memcpy(machine->at(to), from, bytes);
  machine->complete(barrier, bytes);
}
inline void store_bytes(char* to, u32 from, u32 bytes) {
  check_bytes(from, bytes);
  emulator::on_store_bytes();
  store_groups().back().push_back({.to = to, .from = from, .bytes = bytes});
}
inline u64 descriptor(u32 address) {
  return address;
}
inline void end_stores() {
  store_groups().emplace_back();
}
template <int kLeft>
void wait_for_reads() {
  machine->jitter();  // others overwrite meanwhile what was given back too early
  auto& groups = store_groups();
  for (std::size_t i = 0; i + 1 + kLeft < groups.size(); ++i) {
    for (emulator::LateStore& store : groups[i]) {
      if (store.reads) {
        store.reads();
        store.reads = nullptr;
      }
      const char* const from = machine->at(store.from);
      if (store.read.empty()) store.read.assign(from, from + store.bytes);
    }
  }
}
template <int kLeft>
void wait_for_stores() {
  wait_for_reads<kLeft>();
  auto& groups = store_groups();
  for (; groups.size() > 1 + kLeft; groups.erase(groups.begin())) {
    for (const emulator::LateStore& store : groups.front()) {
      if (store.arrives) {
        store.arrives();
        continue;
      }
      std::memcpy(store.to, store.read.data(), store.bytes);
    }
  }
}
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
  return *reinterpret_cast<T*>(emulator::own.cta->memory.data() + offset);
}
inline char* dynamic_memory() {
  constexpr std::size_t kObjects = 16 << 10;
  return emulator::own.cta->memory.data() + kObjects;
}

/// The tag of the consumer's tile, whose last step has been multiplied.
inline Tag finished_tile() {
  if (emulator::own.multiplied.step != emulator::last_step_of_cta())
    machine->fail("a tile that is not finished");
  return emulator::own.multiplied;
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
inline void publish_here(u32 at, u32 word) {
  machine->jitter();
  store_word(at, word);
  machine->went_on();
}
inline u32 acquired_here(u32 at) {
  machine->jitter();
  return word_at(at);
}

}  // namespace overlaptune::kernels::device
