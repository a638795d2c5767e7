#include "run/memory/result_memory.hpp"

#include <mutex>

namespace overlaptune::run {
namespace {

/// The blocks of the process that are held, each with its memory.
struct Blocks {
  std::mutex mutex{};
  std::map<void*, std::shared_ptr<ResultMemory>> memories{};
};

/// It is never destroyed: graphs and allocators give blocks back while the process ends.
Blocks& all() {
  static Blocks* const blocks = new Blocks;
  return *blocks;
}

}  // namespace

std::shared_ptr<ResultMemory> ResultMemory::make(std::byte* begin, std::size_t bytes,
                                                 std::shared_ptr<void> owner) {
  return std::shared_ptr<ResultMemory>(new ResultMemory(begin, bytes, std::move(owner)));
}

void* ResultMemory::take(std::size_t bytes) {
  const std::lock_guard lock(all().mutex);
  if (bytes == 0 || bytes > bytes_) return nullptr;
  const std::size_t size = (bytes + kUnit - 1) / kUnit * kUnit;
  std::size_t free = 0;
  for (const auto& [offset, block] : blocks_) {
    if (offset - free >= size) break;
    free = offset + block.bytes;
  }
  if (free + size > bytes_) return nullptr;
  blocks_[free] = {.bytes = size};
  all().memories[begin_ + free] = shared_from_this();
  return begin_ + free;
}

/// The block in which an address lies, or the end.
ResultMemory::Held::const_iterator ResultMemory::block_at(const void* inside) const {
  const auto* const address = static_cast<const std::byte*>(inside);
  if (address < begin_ || address >= begin_ + bytes_) return blocks_.end();
  const auto offset = static_cast<std::size_t>(address - begin_);
  auto block = blocks_.upper_bound(offset);
  if (block == blocks_.begin()) return blocks_.end();
  --block;
  return offset < block->first + block->second.bytes ? block : blocks_.end();
}

void* ResultMemory::hold(const void* inside) {
  const std::lock_guard lock(all().mutex);
  auto behind = all().memories.upper_bound(const_cast<void*>(inside));
  if (behind == all().memories.begin()) return nullptr;
  ResultMemory& memory = *std::prev(behind)->second;
  const auto block = memory.block_at(inside);
  if (block == memory.blocks_.end()) return nullptr;
  ++memory.blocks_[block->first].holders;
  return memory.begin_ + block->first;
}

bool ResultMemory::give(void* block) {
  std::shared_ptr<ResultMemory> memory;  // goes without the mutex
  const std::lock_guard lock(all().mutex);
  const auto found = all().memories.find(block);
  if (found == all().memories.end()) return false;
  memory = found->second;
  const auto held = memory->blocks_.find(
      static_cast<std::size_t>(static_cast<std::byte*>(block) - memory->begin_));
  if (--held->second.holders == 0) {
    memory->blocks_.erase(held);
    all().memories.erase(found);
  }
  return true;
}

bool ResultMemory::has(const void* begin, std::size_t bytes) const {
  const std::lock_guard lock(all().mutex);
  const auto block = block_at(begin);
  if (block == blocks_.end()) return false;
  const auto* const end = begin_ + block->first + block->second.bytes;
  return bytes <= static_cast<std::size_t>(end - static_cast<const std::byte*>(begin));
}

bool ResultMemory::is_used() const {
  const std::lock_guard lock(all().mutex);
  return !blocks_.empty();
}

}  // namespace overlaptune::run
