#pragma once
// The function of kernels/device/ptx/wgmma.cuh on the host.

#include "kernels/device/ptx/hopper.cuh"

namespace overlaptune::kernels::device {

/// One product of a consumer's steps: notes the tile, and the step. A step is several products.
template <int kColumns, Element kElement>
void multiply(float*, u64 a, u64 b, int add) {
  const u32 memory = shared_address(dynamic_memory());
  const u32 stages = (memory + 1023) / 1024 * 1024;
  const auto rows = static_cast<u32>(emulator::tile.rows);
  const u32 bytes = (rows + static_cast<u32>(emulator::tile.columns)) * 128;
  const u32 stage = stages + (static_cast<u32>(a) - stages) / bytes * bytes;
  if (stage != stages + (static_cast<u32>(b) - stages) / bytes * bytes) {
    machine->fail("operands of two stages");
  }
  const Tag of_a = machine->loaded_at(stage);
  const Tag of_b = machine->loaded_at(stage + rows * 128);
  const Tag tile{.block = of_a.block, .row = of_a.row, .column = of_b.column, .step = of_a.step};
  if (of_a.step != of_b.step) machine->fail("A and B of two steps");
  Tag& mine = emulator::own.multiplied;
  if (add == 0) {
    mine = tile;
    return;
  }
  const bool next = tile.step == mine.step || tile.step == mine.step + 1;
  mine.step = tile.step;
  if (!next || !(tile == mine)) machine->fail("a step of another tile, or out of order");
}

}  // namespace overlaptune::kernels::device
