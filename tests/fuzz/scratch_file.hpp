#pragma once
// A database file made of the bytes of one input.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <span>
#include <string>
#include <string_view>
#include <unistd.h>

namespace overlaptune::fuzz {

/// One name for each process, in memory where there is /dev/shm. Removed at the end with all that
/// SQLite puts beside it.
class ScratchFile {
 public:
  ScratchFile(std::string_view purpose, std::span<const std::uint8_t> bytes) {
    const bool memory = access("/dev/shm", W_OK) == 0;
    path_ = memory ? std::filesystem::path("/dev/shm") : std::filesystem::temp_directory_path();
    path_ /= "overlaptune-fuzz-" + std::to_string(getpid()) + "-" + std::string(purpose) + ".db";
    remove_all();
    std::ofstream(path_, std::ios::binary)
        .write(static_cast<const char*>(static_cast<const void*>(bytes.data())),
               static_cast<std::streamsize>(bytes.size()));
  }
  ~ScratchFile() { remove_all(); }
  ScratchFile(const ScratchFile&) = delete;
  ScratchFile& operator=(const ScratchFile&) = delete;
  [[nodiscard]] const std::string& path() const { return path_.native(); }

 private:
  void remove_all() const {
    std::error_code ignored;
    for (const char* suffix : {"", "-wal", "-shm", "-journal"}) {
      std::filesystem::remove(path_.native() + suffix, ignored);
    }
  }

  std::filesystem::path path_;
};

}  // namespace overlaptune::fuzz
