#pragma once
// System basics of every connection: file descriptors that close themselves, and the clock of every
// wait.

#include <chrono>
#include <string>
#include <utility>

namespace overlaptune::cuda {

using Clock = std::chrono::steady_clock;
/// `Deadline::max()`: never.
using Deadline = Clock::time_point;

/// Time-out for poll: milliseconds until `deadline`, at least 0 and rounded up; -1 for never.
[[nodiscard]] int milliseconds_until(Deadline deadline);

/// `errno` in words, as in "Connection refused".
[[nodiscard]] std::string system_error();

/// Name of this host, for messages.
[[nodiscard]] std::string host_name();

class FileDescriptor {
 public:
  explicit FileDescriptor(int number = -1) : number_(number) {}
  ~FileDescriptor() { close(); }
  FileDescriptor(FileDescriptor&& other) noexcept : number_(std::exchange(other.number_, -1)) {}
  FileDescriptor& operator=(FileDescriptor&& other) noexcept;
  FileDescriptor(const FileDescriptor&) = delete;
  FileDescriptor& operator=(const FileDescriptor&) = delete;

  [[nodiscard]] int get() const { return number_; }
  [[nodiscard]] bool is_open() const { return number_ >= 0; }
  void close();

 private:
  int number_;
};

}  // namespace overlaptune::cuda
