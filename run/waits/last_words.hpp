#pragma once
// The reason for which a rank ended its world, where the other ranks of its host can read it: a
// rank that has waited in vain tells the one that comes late.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "run/waits/process.hpp"

namespace overlaptune::run {

/// A page of memory that other processes of the host can map. Where there is none to be had, words
/// are not told.
class LastWords {
 public:
  /// The page of this rank, with no words yet.
  [[nodiscard]] static LastWords of_this_rank();
  /// By which other processes find a page.
  struct Handle {
    int file = -1;             ///< of the process; -1: there is no page
    std::uint64_t number = 0;  ///< of the page: the process may have another file there by now
  };
  /// The page of a process which has told `handle`; empty where this process cannot see it.
  [[nodiscard]] static LastWords of(const Process& process, const Handle& handle);

  LastWords() = default;

  [[nodiscard]] Handle handle() const;
  /// The first words stay. Long ones are cut.
  void say(std::string_view words);
  /// The words of the page; absent as long as nobody has said any.
  [[nodiscard]] std::optional<std::string> heard() const;

 private:
  LastWords(int file, void* page);

  int file_ = -1;
  std::shared_ptr<void> page_{};  ///< with the file, which is closed behind it
};

}  // namespace overlaptune::run
