#pragma once
// A value that many threads read, and that is replaced now and then.

#include <array>
#include <atomic>
#include <memory>
#include <mutex>

namespace overlaptune {

/// `get` returns the current value and keeps it alive for as long as the caller holds it; `put`
/// takes effect at once. With a single atomic shared pointer all readers would write to one
/// reference count. Here each thread has a place with a separate count, and threads share a place
/// only where there are more threads than places. A place's lock is held only while a pointer is
/// copied.
template <class T>
class Published {
 public:
  explicit Published(std::shared_ptr<const T> value) { put(std::move(value)); }

  [[nodiscard]] std::shared_ptr<const T> get() const {
    const Place& place = places_[place_of_this_thread()];
    const std::lock_guard lock(place.mutex);
    return place.value;
  }

  /// Replaces the value. Only one thread at a time may call it. When it returns, `get` no longer
  /// returns the old value.
  void put(std::shared_ptr<const T> value) {
    for (Place& place : places_) {
      // A pointer to the value with a reference count for this place alone.
      const auto keeper = std::make_shared<std::shared_ptr<const T>>(value);
      std::shared_ptr<const T> counted(keeper, keeper->get());
      const std::lock_guard lock(place.mutex);
      place.value.swap(counted);
    }
  }

 private:
  static constexpr std::size_t kPlaces = 32;
  struct alignas(64) Place {
    mutable std::mutex mutex;
    std::shared_ptr<const T> value;
  };

  static std::size_t place_of_this_thread() {
    static std::atomic<std::size_t> threads = 0;
    thread_local const std::size_t place =
        threads.fetch_add(1, std::memory_order_relaxed) % kPlaces;
    return place;
  }

  std::array<Place, kPlaces> places_;
};

}  // namespace overlaptune
