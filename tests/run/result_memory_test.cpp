#include "run/memory/result_memory.hpp"

#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace overlaptune::run {
namespace {

constexpr std::size_t kBytes = 64 * ResultMemory::kUnit;

struct alignas(512) Memory {
  std::byte bytes[kBytes]{};
};

/// Sets a word when it is destroyed.
std::shared_ptr<void> owner(bool& gone) {
  return {&gone, [](void* word) { *static_cast<bool*>(word) = true; }};
}

TEST(ResultMemoryTest, no_two_blocks_share_a_byte_and_room_is_found_where_there_is_some) {
  Memory memory;
  const auto results = ResultMemory::make(memory.bytes, kBytes, nullptr);
  struct Taken {
    std::byte* begin;
    std::size_t bytes;
  };
  std::vector<Taken> taken;
  std::mt19937 random(3);
  int refused = 0;
  for (int step = 0; step < 20'000; ++step) {
    if (random() % 2 == 0 && !taken.empty()) {
      const std::size_t which = random() % taken.size();
      ASSERT_TRUE(ResultMemory::give(taken[which].begin));
      taken.erase(taken.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    const std::size_t bytes = 1 + random() % (kBytes / 8);
    auto* const begin = static_cast<std::byte*>(results->take(bytes));
    // By bytes: which are taken.
    std::vector<bool> used(kBytes + 1);
    used[kBytes] = true;
    for (const Taken& each : taken) {
      const auto first = static_cast<std::size_t>(each.begin - memory.bytes);
      for (std::size_t i = first; i < first + each.bytes; ++i) used[i] = true;
    }
    if (begin == nullptr) {
      ++refused;
      const std::size_t size =
          (bytes + ResultMemory::kUnit - 1) / ResultMemory::kUnit * ResultMemory::kUnit;
      std::size_t free = 0;  // in whole units, that nobody has
      std::size_t longest = 0;
      for (std::size_t unit = 0; unit < kBytes; unit += ResultMemory::kUnit) {
        free = used[unit] ? 0 : free + ResultMemory::kUnit;
        longest = std::max(longest, free);
      }
      EXPECT_LT(longest, size);
      continue;
    }
    ASSERT_GE(begin, memory.bytes);
    ASSERT_LE(begin + bytes, memory.bytes + kBytes);
    EXPECT_EQ((begin - memory.bytes) % ResultMemory::kUnit, 0);
    for (std::size_t i = 0; i < bytes; ++i) {
      ASSERT_FALSE(used[static_cast<std::size_t>(begin - memory.bytes) + i]);
    }
    EXPECT_TRUE(results->has(begin, bytes));
    taken.push_back({begin, bytes});
  }
  EXPECT_GT(refused, 100);
  for (const Taken& each : taken) EXPECT_TRUE(ResultMemory::give(each.begin));
  EXPECT_FALSE(results->is_used());
  void* const all = results->take(kBytes);
  EXPECT_EQ(all, memory.bytes);
  EXPECT_TRUE(ResultMemory::give(all));
}

TEST(ResultMemoryTest, only_bytes_of_a_block_that_is_held_are_there) {
  Memory memory;
  const auto results = ResultMemory::make(memory.bytes, kBytes, nullptr);
  EXPECT_FALSE(results->has(memory.bytes, 1));
  auto* const first = static_cast<std::byte*>(results->take(ResultMemory::kUnit));
  auto* const second = static_cast<std::byte*>(results->take(2 * ResultMemory::kUnit));
  EXPECT_TRUE(results->has(second + 16, 2 * ResultMemory::kUnit - 16));
  EXPECT_FALSE(results->has(second + 16, 2 * ResultMemory::kUnit));
  EXPECT_FALSE(results->has(first, ResultMemory::kUnit + 1));
  EXPECT_FALSE(results->has(memory.bytes + kBytes, 1));
  EXPECT_FALSE(results->has(memory.bytes - 1, 1));
  EXPECT_FALSE(results->has(first, SIZE_MAX));
  EXPECT_TRUE(ResultMemory::give(first));
  EXPECT_FALSE(results->has(first, 1));
  EXPECT_FALSE(ResultMemory::give(first)) << "twice";
  EXPECT_FALSE(ResultMemory::give(second + 1)) << "no begin of a block";
  EXPECT_EQ(results->take(0), nullptr);
  EXPECT_EQ(results->take(SIZE_MAX), nullptr);
  EXPECT_TRUE(ResultMemory::give(second));
}

TEST(ResultMemoryTest, a_block_is_free_when_its_last_holder_has_gone) {
  Memory memory;
  const auto results = ResultMemory::make(memory.bytes, kBytes, nullptr);
  void* const block = results->take(kBytes);
  EXPECT_EQ(ResultMemory::hold(static_cast<std::byte*>(block) + 700), block);
  EXPECT_EQ(ResultMemory::hold(memory.bytes + kBytes), nullptr);
  EXPECT_TRUE(ResultMemory::give(block));
  EXPECT_EQ(results->take(1), nullptr) << "a graph holds it";
  EXPECT_TRUE(ResultMemory::give(block));
  EXPECT_EQ(results->take(kBytes), block);
  EXPECT_TRUE(ResultMemory::give(block));
}

TEST(ResultMemoryTest, the_memory_goes_with_the_last_block) {
  Memory memory;
  bool gone = false;
  auto results = ResultMemory::make(memory.bytes, kBytes, owner(gone));
  void* const first = results->take(1);
  void* const second = results->take(1);
  results.reset();
  EXPECT_TRUE(ResultMemory::give(first));
  EXPECT_FALSE(gone);
  EXPECT_TRUE(ResultMemory::give(second));
  EXPECT_TRUE(gone);
}

}  // namespace
}  // namespace overlaptune::run
