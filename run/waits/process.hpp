#pragma once
// Which process a rank is, and whether it still runs.

#include <array>
#include <cstdint>

namespace overlaptune::run {

/// A process of a host. Plain bytes, so that ranks can tell each other.
struct Process {
  std::array<char, 40> boot{};  ///< the host's boot, by the kernel's random number
  std::uint64_t pids = 0;       ///< the namespace of process numbers
  std::int64_t pid = 0;
  std::uint64_t start = 0;  ///< in clock ticks since the boot
};

/// This process. `pid` is 0 where /proc does not tell.
[[nodiscard]] Process this_process();

/// Whether this process can look at the other one: not where that is on another host or in another
/// container, or /proc does not tell.
[[nodiscard]] bool is_visible(const Process& process);

/// Whether a process has ended. False where it is not visible.
[[nodiscard]] bool has_ended(const Process& process);

}  // namespace overlaptune::run
