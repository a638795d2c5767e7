#pragma once
// Compiled kernels on disk, one file an entry. Any number of threads and processes may use a folder
// at once: entries appear whole (a temporary file, then a rename), and readers trust nothing that
// does not hold the key asked for and its own checksum. What goes wrong with the files costs a
// compilation, never a result: it is logged, once.

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "core/error.hpp"
#include "kernels/compiler.hpp"

namespace overlaptune::kernels {

struct CubinCacheOptions {
  std::filesystem::path folder{};            ///< empty: no cache
  std::uint64_t largest_bytes = 1ULL << 30;  ///< of all entries together; 0: no cache

  friend bool operator==(const CubinCacheOptions&, const CubinCacheOptions&) = default;
};

/// The value of an environment variable; nothing where it is not set or empty.
using Variables = std::function<std::optional<std::string>(const char* name)>;
[[nodiscard]] std::optional<std::string> environment_variable(const char* name);

/// $OVERLAPTUNE_CACHE, or overlaptune in $XDG_CACHE_HOME, or ~/.cache/overlaptune;
/// $OVERLAPTUNE_CACHE_MB (of 2^20 bytes) instead of 1024.
[[nodiscard]] Expected<CubinCacheOptions> cubin_cache_options(
    const Variables& variables = environment_variable);

class CubinCache {
 public:
  explicit CubinCache(CubinCacheOptions options) : options_(std::move(options)) {}

  /// The entry of this key (`Compiler::key`), which is then the one used last. A damaged one is
  /// removed.
  [[nodiscard]] std::optional<Cubin> find(std::string_view key) const;

  /// Then removes the entries used longest ago, as many as are over the limit.
  void store(std::string_view key, const Cubin& cubin) const;

  struct Contents {
    std::size_t entries = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] Contents contents() const;

  /// Removes every entry, and what killed writers left; other files stay. Returns what it removed.
  /// Throws `Failure` (`cannot_write`) where one cannot be removed.
  Contents clear() const;  // NOLINT(modernize-use-nodiscard)

  /// Where the entry of this key is or would be.
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
