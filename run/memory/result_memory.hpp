#pragma once
// Memory for results, which all ranks of a world reach. A C that lies in there needs no copy: the
// peers store into it, and it is the caller's as long as the caller likes.

#include <cstddef>
#include <map>
#include <memory>

namespace overlaptune::run {

/// Blocks of one piece of memory. Each has *holders*: a caller, and the CUDA graphs whose kernels
/// write to it. Any thread may call all functions.
class ResultMemory : public std::enable_shared_from_this<ResultMemory> {
 public:
  /// Blocks begin at multiples of this many bytes.
  static constexpr std::size_t kUnit = 512;

  /// `begin`: a multiple of `kUnit`. `owner` keeps the memory; it goes with the last block, or with
  /// the object. A thread of CUDA, which may not call it, may be the one to let it go.
  [[nodiscard]] static std::shared_ptr<ResultMemory> make(std::byte* begin, std::size_t bytes,
                                                          std::shared_ptr<void> owner);

  /// A block with one holder: the first free one that is large enough. Null: there is none.
  [[nodiscard]] void* take(std::size_t bytes);

  /// Adds a holder to the block of any result memory in which an address lies, and returns the
  /// block; null: it lies in none.
  [[nodiscard]] static void* hold(const void* inside);
  /// Takes a holder away; without any, the block is free. False: this is no block.
  static bool give(void* block);

  /// Whether these bytes lie in a block that somebody holds.
  [[nodiscard]] bool has(const void* begin, std::size_t bytes) const;
  /// Whether somebody holds a block.
  [[nodiscard]] bool is_used() const;
  [[nodiscard]] std::byte* begin() const { return begin_; }
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  ResultMemory(std::byte* begin, std::size_t bytes, std::shared_ptr<void> owner)
      : begin_(begin), bytes_(bytes), owner_(std::move(owner)) {}

  struct Block {
    std::size_t bytes = 0;
    int holders = 1;
  };
  using Held = std::map<std::size_t, Block>;  ///< by their offsets
  [[nodiscard]] Held::const_iterator block_at(const void* inside) const;

  std::byte* begin_;
  std::size_t bytes_;
  std::shared_ptr<void> owner_;
  Held blocks_{};
};

}  // namespace overlaptune::run
