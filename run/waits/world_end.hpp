#pragma once
// The reason why a world cannot go on. Any thread may give or ask for it.

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

namespace overlaptune::run {

class WorldEnd {
 public:
  /// The first reason is kept.
  void set(std::string reason) {
    const std::lock_guard lock(mutex_);
    if (reason_) return;
    reason_ = std::move(reason);
    is_set_.store(true, std::memory_order_release);
  }

  /// The reason; absent while the world goes on, which costs one load.
  [[nodiscard]] std::optional<std::string> reason() const {
    if (!is_set_.load(std::memory_order_acquire)) return std::nullopt;
    const std::lock_guard lock(mutex_);
    return reason_;
  }

 private:
  std::atomic<bool> is_set_ = false;
  mutable std::mutex mutex_{};
  std::optional<std::string> reason_{};
};

}  // namespace overlaptune::run
