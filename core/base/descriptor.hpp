#pragma once
// A file descriptor that closes itself.

#include <cerrno>
#include <unistd.h>
#include <utility>

namespace overlaptune {

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) ::close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return number_; }
  /// Closes it now. Returns an errno, or 0.
  int close() { return ::close(std::exchange(number_, -1)) == 0 ? 0 : errno; }

 private:
  int number_;
};

}  // namespace overlaptune
