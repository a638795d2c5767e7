#include "run/waits/last_words.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <random>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/format.h>

namespace overlaptune::run {
namespace {

/// In memory that two processes map. All is zero at first.
struct Page {
  static constexpr std::size_t kMostBytes = 1000;
  std::uint64_t number;
  std::atomic<unsigned> said;  ///< 1: `text` is there
  std::array<char, kMostBytes + 1> text;
};
static_assert(std::atomic<unsigned>::is_always_lock_free);

}  // namespace

LastWords LastWords::of_this_rank() {
  const int file = memfd_create("overlaptune-last-words", MFD_CLOEXEC);
  if (file < 0) return {};
  void* page = MAP_FAILED;
  if (ftruncate(file, sizeof(Page)) == 0) {
    page = mmap(nullptr, sizeof(Page), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  }
  if (page == MAP_FAILED) {
    static_cast<void>(close(file));
    return {};
  }
  std::random_device random;
  static_cast<Page*>(page)->number = std::uniform_int_distribution<std::uint64_t>()(random);
  return {file, page};
}

LastWords LastWords::of(const Process& process, const Handle& handle) {
  if (handle.file < 0 || !is_visible(process)) return {};
  // To open the link opens the memory itself (proc(5)).
  const std::string path = fmt::format("/proc/{}/fd/{}", process.pid, handle.file);
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (file < 0) return {};
  void* page = MAP_FAILED;
  if (lseek(file, 0, SEEK_END) == static_cast<off_t>(sizeof(Page))) {  // not another file by now
    page = mmap(nullptr, sizeof(Page), PROT_READ, MAP_SHARED, file, 0);
  }
  static_cast<void>(close(file));
  if (page == MAP_FAILED) return {};
  LastWords words(-1, page);
  if (static_cast<const Page*>(page)->number != handle.number) return {};
  return words;
}

LastWords::Handle LastWords::handle() const {
  return file_ < 0 ? Handle() : Handle{file_, static_cast<const Page*>(page_.get())->number};
}

LastWords::LastWords(int file, void* page)
    : file_(file), page_(page, [file](void* mapped) {
        static_cast<void>(munmap(mapped, sizeof(Page)));
        if (file >= 0) static_cast<void>(close(file));
      }) {}

void LastWords::say(std::string_view words) {
  if (file_ < 0) return;
  auto* page = static_cast<Page*>(page_.get());
  if (page->said.load() != 0) return;
  const std::size_t length = std::min(words.size(), Page::kMostBytes);
  std::memcpy(page->text.data(), words.data(), length);  // the end is zero
  page->said.store(1);
}

std::optional<std::string> LastWords::heard() const {
  const auto* page = static_cast<const Page*>(page_.get());
  if (page == nullptr || page->said.load() == 0) return std::nullopt;
  return std::string(page->text.data(), strnlen(page->text.data(), Page::kMostBytes));
}

}  // namespace overlaptune::run
