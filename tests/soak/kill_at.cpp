// Loaded before the C library (LD_PRELOAD): counts the calls that change files, and kills the
// process at the one whose number is in SOAK_KILL_AT. With 0 it only counts; the count goes to
// SOAK_COUNT.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <sys/types.h>
#include <unistd.h>

namespace {

long number(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? 0 : std::atol(text);
}

const long kill_at = number("SOAK_KILL_AT");
long calls = 0;

void count_call() {
  if (++calls == kill_at) raise(SIGKILL);
}

template <class Function>
Function* real(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_NEXT, name));
}

struct AtTheEnd {
  ~AtTheEnd() {
    const char* file = std::getenv("SOAK_COUNT");
    if (file == nullptr) return;
    if (std::FILE* out = std::fopen(file, "w")) {
      std::fprintf(out, "%ld\n", calls);
      std::fclose(out);
    }
  }
} at_the_end;

}  // namespace

extern "C" {

ssize_t pwrite64(int file, const void* data, size_t size, off64_t offset) {
  static auto* const call = real<ssize_t(int, const void*, size_t, off64_t)>("pwrite64");
  count_call();
  return call(file, data, size, offset);
}

ssize_t pwrite(int file, const void* data, size_t size, off_t offset) {
  static auto* const call = real<ssize_t(int, const void*, size_t, off_t)>("pwrite");
  count_call();
  return call(file, data, size, offset);
}

ssize_t write(int file, const void* data, size_t size) {
  static auto* const call = real<ssize_t(int, const void*, size_t)>("write");
  if (file > STDERR_FILENO) count_call();
  return call(file, data, size);
}

int ftruncate64(int file, off64_t size) {
  static auto* const call = real<int(int, off64_t)>("ftruncate64");
  count_call();
  return call(file, size);
}

int fsync(int file) {
  static auto* const call = real<int(int)>("fsync");
  count_call();
  return call(file);
}

int fdatasync(int file) {
  static auto* const call = real<int(int)>("fdatasync");
  count_call();
  return call(file);
}

int unlink(const char* name) {
  static auto* const call = real<int(const char*)>("unlink");
  count_call();
  return call(name);
}

int link(const char* from, const char* to) {
  static auto* const call = real<int(const char*, const char*)>("link");
  count_call();
  return call(from, to);
}

int rename(const char* from, const char* to) {
  static auto* const call = real<int(const char*, const char*)>("rename");
  count_call();
  return call(from, to);
}
}
