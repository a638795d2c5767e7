#pragma once
// A file descriptor that closes itself.

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace overlaptune {

class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() {
    if (is_open()) ::close(number_);
  }
  Descriptor(Descriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  Descriptor& operator=(Descriptor other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }
  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  /// Closes it now. Returns an errno, or 0.
  int close() { return !is_open() || ::close(std::exchange(number_, -1)) == 0 ? 0 : errno; }

 private:
  int number_;
};

}  // namespace overlaptune
