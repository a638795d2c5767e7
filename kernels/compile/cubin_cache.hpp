#pragma once
// A cache of compiled kernels on disk, with one file for each entry. Any number of threads and
// processes may use a folder at once: an entry appears whole, and a reader accepts it only with the
// right key and hash. An entry is code that will run, so it counts only if it is a file of this
// user or of root that nobody else may write. A problem with the files costs a compilation, never a
// result, and is logged once.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/environment.hpp"
#include "core/base/error.hpp"
#include "kernels/compile/compiler.hpp"

namespace overlaptune::kernels {

struct CubinCacheOptions {
  std::filesystem::path folder{};            ///< empty: no cache
  std::uint64_t largest_bytes = 1ULL << 30;  ///< of all entries together; 0: no cache

  friend bool operator==(const CubinCacheOptions&, const CubinCacheOptions&) = default;
};

/// The options that the environment asks for. The folder is $OVERLAPTUNE_CACHE, else overlaptune in
/// $XDG_CACHE_HOME, else ~/.cache/overlaptune. The limit is $OVERLAPTUNE_CACHE_MB, in units of 2^20
/// bytes, else 1024. Error (`bad_input`): the limit is not a whole number.
[[nodiscard]] Expected<CubinCacheOptions> cubin_cache_options(
    const Variables& variables = process_variables());

class CubinCache {
 public:
  explicit CubinCache(CubinCacheOptions options) : options_(std::move(options)) {}

  /// The entry of this key (`Compiler::key`), which becomes the most recently used one. A damaged
  /// entry is removed; one that others may have changed is not used.
  [[nodiscard]] std::optional<Cubin> find(std::string_view key) const;

  /// Stores an entry, then removes the least recently used ones until the limit is kept.
  void store(std::string_view key, const Cubin& cubin) const;

  /// Whether entries can be stored. It makes the folder.
  [[nodiscard]] bool can_store() const;

  struct Contents {
    std::size_t entries = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Contents contents() const;

  /// Removes every entry, and the files that killed writers left; other files stay. Returns what it
  /// removed. Throws `Failure` (`cannot_write`) where a file cannot be removed.
  Contents clear() const;  // NOLINT(modernize-use-nodiscard)

  /// The file that holds or would hold the entry of this key.
  [[nodiscard]] std::filesystem::path file_of(std::string_view key) const;

  [[nodiscard]] const CubinCacheOptions& options() const { return options_; }

 private:
  [[nodiscard]] bool is_off() const;
  void remove_oldest() const;
  void warn_once(const std::string& what) const;

  CubinCacheOptions options_;
  mutable std::atomic<bool> warned_ = false;
};

}  // namespace overlaptune::kernels
