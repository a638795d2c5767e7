#pragma once
// Waits that end.

#include <chrono>
#include <thread>

namespace overlaptune {

/// Whether `holds()` is true now, or becomes true before `limit` has passed. Between two looks it
/// leaves the processor to others for `pause`.
template <class F>
[[nodiscard]] bool comes_true(const F& holds, std::chrono::nanoseconds limit,
                              std::chrono::nanoseconds pause) {
  const auto deadline = std::chrono::steady_clock::now() + limit;
  while (!holds()) {
    if (std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(pause);
  }
  return true;
}

}  // namespace overlaptune
