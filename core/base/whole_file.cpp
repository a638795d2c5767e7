#include "core/base/whole_file.hpp"

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <fcntl.h>
#include <optional>
#include <random>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "core/base/descriptor.hpp"

namespace overlaptune {
namespace {

namespace fs = std::filesystem;

/// While it lives, signals wait: none ends the process between a name and its removal.
class SignalsWait {
 public:
  SignalsWait() {
    sigset_t all{};
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before_);
  }
  ~SignalsWait() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }
  SignalsWait(const SignalsWait&) = delete;
  SignalsWait& operator=(const SignalsWait&) = delete;

 private:
  sigset_t before_{};
};

fs::path folder_of(const fs::path& file) {
  return file.has_parent_path() ? file.parent_path() : fs::path(".");
}

/// A name beside the file that nobody can foresee.
fs::path temporary_beside(const fs::path& file) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
  std::random_device source;
  std::uniform_int_distribution<std::size_t> letter(0, kLetters.size() - 1);
  std::string name(kWriting);
  for (std::size_t i = 0; i < kWritingLetters; ++i) name += kLetters[letter(source)];
  return folder_of(file) / name;
}

/// Writes all and flushes it to the disk. Returns an errno, or 0.
int fill(const Descriptor& descriptor, std::string_view content) {
  while (!content.empty()) {
    const ssize_t count = ::write(descriptor.get(), content.data(), content.size());
    if (count >= 0) {
      content.remove_prefix(static_cast<std::size_t>(count));
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return ::fsync(descriptor.get()) == 0 ? 0 : errno;
}

/// Gives a file that was written under another name its own, and takes the other away.
int publish(const fs::path& temporary, const fs::path& file, IfThere if_there) {
  const auto name = if_there == IfThere::keep ? ::link : std::rename;
  const int failure = name(temporary.c_str(), file.c_str()) == 0 ? 0 : errno;
  ::unlink(temporary.c_str());  // fails after a rename, which took the name away
  return failure;
}

/// Gives a file without a name one, which must be free. Returns an errno, or 0.
int name_it(const Descriptor& file, const fs::path& name) {
  // The other way (AT_EMPTY_PATH) is for privileged processes.
  const std::string unnamed = fmt::format("/proc/self/fd/{}", file.get());
  const int linked = ::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW);
  return linked == 0 ? 0 : errno;
}

/// None: no file without a name can be made here, or it cannot be named.
std::optional<int> write_unnamed(const fs::path& file, std::string_view content, IfThere if_there,
                                 mode_t mode) {
  const Descriptor unnamed(::open(folder_of(file).c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, mode));
  if (unnamed.get() < 0) return std::nullopt;
  if (const int failure = fill(unnamed, content); failure != 0) return failure;
  const int failure = name_it(unnamed, file);
  if (failure == 0) return 0;
  if (failure != EEXIST) return std::nullopt;
  if (if_there == IfThere::keep) return EEXIST;
  const SignalsWait wait;
  const fs::path temporary = temporary_beside(file);
  if (const int unlinked = name_it(unnamed, temporary); unlinked != 0) return unlinked;
  return publish(temporary, file, if_there);
}

int write_named(const fs::path& file, std::string_view content, IfThere if_there, mode_t mode) {
  const SignalsWait wait;
  const fs::path temporary = temporary_beside(file);
  Descriptor descriptor(
      ::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (descriptor.get() < 0) return errno;
  int failure = fill(descriptor, content);
  if (const int at_close = descriptor.close(); failure == 0) failure = at_close;
  if (failure == 0) return publish(temporary, file, if_there);
  ::unlink(temporary.c_str());
  return failure;
}

}  // namespace

int write_whole_file(const fs::path& file, std::string_view content, IfThere if_there,
                     mode_t mode) {
  if (const auto result = write_unnamed(file, content, if_there, mode)) return *result;
  return write_named(file, content, if_there, mode);
}

}  // namespace overlaptune
