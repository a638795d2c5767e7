#include "db/file/temporary_file.hpp"

#include <cerrno>
#include <fcntl.h>
#include <random>
#include <string>
#include <string_view>
#include <sys/file.h>
#include <sys/stat.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

#include "db/file/failure.hpp"

namespace overlaptune::db {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kInfix = ".new-";
constexpr std::size_t kDigits = 16;

void remove_with_companions(const fs::path& file) {
  std::error_code ignored;
  for (const char* suffix : {"", "-journal", "-wal", "-shm"}) {
    fs::remove(file.string() + suffix, ignored);
  }
}

/// Where a file system has no such locks, another process may remove the file, and the creation
/// fails.
bool is_locked_and_there(int descriptor) {
  struct stat status {};
  (void)flock(descriptor, LOCK_EX);
  return fstat(descriptor, &status) == 0 && status.st_nlink > 0;
}

}  // namespace

TemporaryFile::TemporaryFile(const fs::path& file) {
  std::random_device random;
  // Until it is locked another process may take it for an abandoned one, and remove it.
  do {
    if (descriptor_ >= 0) close(descriptor_);
    path_ = file;
    path_ += fmt::format("{}{:08x}{:08x}", kInfix, random(), random());
    descriptor_ = open(path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0666);
    if (descriptor_ < 0) {
      const std::error_code error(errno, std::generic_category());
      throw Failure(ErrorKind::cannot_write,
                    about(file, fmt::format("cannot be made here: {}; make its folder writable",
                                            error.message())));
    }
  } while (!is_locked_and_there(descriptor_));
}

TemporaryFile::~TemporaryFile() {
  remove_with_companions(path_);
  close(descriptor_);
}

void remove_abandoned(const fs::path& file) {
  const std::string prefix = file.filename().string().append(kInfix);
  std::error_code error;
  for (fs::directory_iterator entries(fs::absolute(file, error).parent_path(), error), end;
       !error && entries != end; entries.increment(error)) {
    const fs::path& path = entries->path();
    const std::string name = path.filename().string();
    if (name.size() != prefix.size() + kDigits || !name.starts_with(prefix)) continue;
    const int descriptor = open(path.c_str(), O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (descriptor < 0) continue;
    if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) remove_with_companions(path);
    close(descriptor);
  }
}

}  // namespace overlaptune::db
