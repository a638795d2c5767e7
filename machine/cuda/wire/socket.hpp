#pragma once
// What every conversation needs of the system: file descriptors that close themselves, and the
// clock of every wait.

#include <chrono>
#include <string>
#include <utility>

namespace overlaptune::cuda {

using Clock = std::chrono::steady_clock;
/// `Deadline::max()`: never.
using Deadline = Clock::time_point;

/// For poll: milliseconds until then, at least 0 and rounded up; -1 for never.
[[nodiscard]] int milliseconds_until(Deadline deadline);

/// "Connection refused": `errno` in words.
[[nodiscard]] std::string system_error();

/// Of this host, for messages.
[[nodiscard]] std::string host_name();

/// 128 random bits, hexadecimal: what only those know who were told. Throws `Failure`
/// (machine_unavailable) where the system gives none.
[[nodiscard]] std::string new_token();

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
