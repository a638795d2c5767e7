#include "run/memory/peer_mark.hpp"

#include <fmt/format.h>

#include "run/check.hpp"

namespace overlaptune::run {
namespace {

std::uint32_t mark_of(int rank) {
  constexpr std::uint32_t kMark = 0x4f565400;
  return kMark + static_cast<std::uint32_t>(rank);
}

}  // namespace

void put_mark(World& world, std::byte* word) {
  const std::uint32_t mark = mark_of(world.rank());
  OVT_CHECK(cudaMemcpyAsync(word, &mark, sizeof mark, cudaMemcpyHostToDevice, world.stream()));
  world.finish(world.stream(), "a word in new memory");
}

void take_mark(World& world, std::byte* word) {
  OVT_CHECK(cudaMemsetAsync(word, 0, sizeof(std::uint32_t), world.stream()));
  world.finish(world.stream(), "a word in new memory");
}

Expected<void> check_mark(World& world, const std::byte* word, int peer) {
  std::uint32_t found = 0;
  const cudaError_t read =
      cudaMemcpyAsync(&found, word, sizeof found, cudaMemcpyDeviceToHost, world.stream());
  if (read != cudaSuccess) {
    static_cast<void>(cudaGetLastError());
    return bad_input(fmt::format("cannot be read: {}", cudaGetErrorString(read)));
  }
  world.finish(world.stream(), "a word of a peer");
  if (found == mark_of(peer)) return {};
  return bad_input(
      fmt::format("the last word there is {:#010x}, expected {:#010x}: it is other memory", found,
                  mark_of(peer)));
}

}  // namespace overlaptune::run
