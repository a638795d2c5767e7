#include "kernels/compile/cubin_cache.hpp"

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstring>
#include <limits>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "core/base/environment.hpp"
#include "core/base/own_file.hpp"
#include "core/base/whole_file.hpp"
#include "kernels/compile/sha256.hpp"

namespace overlaptune::kernels {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "overlaptune cubin 3\n";
constexpr std::string_view kSuffix = ".kernel";
constexpr std::size_t kNameDigits = 32;
constexpr std::size_t kHashBytes = 32;
/// Age of a temporary file whose writer was killed; a writer takes milliseconds.
constexpr auto kStale = std::chrono::hours(1);

// Layout of an entry: the magic; the fields, each a number of 8 bytes or a text after its length;
// and the SHA-256 of everything before it.

void put(std::string& entry, std::uint64_t number) {
  entry.append(reinterpret_cast<const char*>(&number), sizeof number);
}

void put(std::string& entry, std::string_view text) {
  put(entry, std::uint64_t{text.size()});
  entry.append(text);
}

std::string to_entry(std::string_view key, const Cubin& cubin) {
  std::string entry(kMagic);
  put(entry, key);
  const CubinProperties& p = cubin.properties;
  for (const auto number : {p.registers, p.spill_bytes, p.local_bytes, p.static_shared_bytes}) {
    put(entry, static_cast<std::uint64_t>(number));
  }
  put(entry, std::uint64_t{cubin.warnings.size()});
  for (const std::string& line : cubin.warnings) put(entry, std::string_view(line));
  put(entry, std::string_view(cubin.symbol));
  put(entry, std::string_view(cubin.bytes));
  entry += sha256(entry);
  return entry;
}

/// Reads the fields one by one. After a field that is missing, every field reads as zero or empty.
class Reader {
 public:
  explicit Reader(std::string_view rest) : rest_(rest) {}

  std::uint64_t number() {
    std::uint64_t value = 0;
    const std::string_view bytes = take(sizeof value);
    if (good_) std::memcpy(&value, bytes.data(), sizeof value);
    return value;
  }
  std::string_view text() { return take(number()); }
  [[nodiscard]] bool is_good() const { return good_; }
  [[nodiscard]] bool is_at_end() const { return good_ && rest_.empty(); }

 private:
  std::string_view take(std::uint64_t count) {
    good_ = good_ && count <= rest_.size();
    if (!good_) return {};
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(count);
    return taken;
  }

  std::string_view rest_;
  bool good_ = true;
};

/// The kernel in an entry; nothing where the entry is damaged or has another key.
std::optional<Cubin> from_entry(std::string_view key, std::string_view entry) {
  if (!entry.starts_with(kMagic) || entry.size() < kMagic.size() + kHashBytes) {
    return std::nullopt;
  }
  const std::string_view body = entry.substr(0, entry.size() - kHashBytes);
  if (entry.substr(body.size()) != sha256(body)) return std::nullopt;
  Reader reader(body.substr(kMagic.size()));
  if (reader.text() != key) return std::nullopt;
  Cubin cubin;
  CubinProperties& p = cubin.properties;
  for (std::int64_t* number :
       {&p.registers, &p.spill_bytes, &p.local_bytes, &p.static_shared_bytes}) {
    *number = static_cast<std::int64_t>(reader.number());
  }
  const std::uint64_t lines = reader.number();
  for (std::uint64_t i = 0; i < lines && reader.is_good(); ++i) {
    cubin.warnings.emplace_back(reader.text());
  }
  cubin.symbol = reader.text();
  cubin.bytes = reader.text();
  if (!reader.is_at_end()) return std::nullopt;
  return cubin;
}

bool is_entry(const std::string& name) {
  return name.size() == kNameDigits + kSuffix.size() && name.ends_with(kSuffix) &&
         name.find_first_not_of("0123456789abcdef") == kNameDigits;
}

bool is_temporary(const std::string& name) {
  return name.starts_with(kWriting) && name.size() == kWriting.size() + kWritingLetters;
}

struct File {
  fs::path path{};
  std::uint64_t bytes = 0;
  fs::file_time_type used{};
  bool temporary = false;
};

/// The cache's files in the folder, without those that other processes remove meanwhile.
std::vector<File> files_in(const fs::path& folder) {
  std::vector<File> files;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (!is_entry(name) && !is_temporary(name)) continue;
    struct stat status {};
    if (::lstat(entry->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    std::error_code gone;
    const auto used = fs::last_write_time(entry->path(), gone);
    if (gone) continue;
    files.push_back({.path = entry->path(),
                     .bytes = static_cast<std::uint64_t>(status.st_size),
                     .used = used,
                     .temporary = is_temporary(name)});
  }
  return files;
}

}  // namespace

Expected<CubinCacheOptions> cubin_cache_options(const Variables& variables) {
  CubinCacheOptions options;
  const Environment set = environment(variables);
  options.folder =
      set.cache ? fs::path(*set.cache) : own_folder(variables, "XDG_CACHE_HOME", ".cache");
  if (const auto& text = set.cache_mb) {
    constexpr std::uint64_t kMostMegabytes = std::numeric_limits<std::uint64_t>::max() >> 20;
    std::uint64_t megabytes = 0;
    const char* const end = text->data() + text->size();
    const auto [rest, failure] = std::from_chars(text->data(), end, megabytes);
    if (failure != std::errc{} || rest != end || megabytes > kMostMegabytes) {
      return bad_input(fmt::format(
          "OVERLAPTUNE_CACHE_MB = '{}': expected a whole number of MiB, 0 for no cache", *text));
    }
    options.largest_bytes = megabytes << 20;
  }
  return options;
}

bool CubinCache::is_off() const {
  return options_.folder.empty() || options_.largest_bytes == 0;
}

fs::path CubinCache::file_of(std::string_view key) const {
  // Two keys may share a name without harm: the entry holds the whole key.
  return options_.folder / (sha256_digits(key).substr(0, kNameDigits) + std::string(kSuffix));
}

void CubinCache::warn_once(const std::string& what) const {
  if (!warned_.exchange(true)) spdlog::warn("kernel cache {}", what);
}

std::optional<Cubin> CubinCache::find(std::string_view key) const {
  if (is_off()) return std::nullopt;
  const fs::path file = file_of(key);
  const auto entry = read_own_file(file, kOthersMayWrite, options_.largest_bytes);
  if (!entry) {
    warn_once(entry.error().message + ": not used, the kernel is compiled again");
    return std::nullopt;
  }
  if (!*entry) return std::nullopt;
  std::error_code ignored;
  auto cubin = from_entry(key, **entry);
  if (!cubin) {
    spdlog::debug("kernel cache {}: damaged, compiled again", file.string());
    fs::remove(file, ignored);
    return std::nullopt;
  }
  // This fails where another user owns the entries. They are then removed in the order in which
  // they were made.
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  return cubin;
}

void CubinCache::store(std::string_view key, const Cubin& cubin) const {
  if (options_.folder.empty()) {
    warn_once("is off: none of OVERLAPTUNE_CACHE, XDG_CACHE_HOME and HOME is set");
  }
  if (is_off()) return;
  const std::string entry = to_entry(key, cubin);
  if (entry.size() > options_.largest_bytes) {
    warn_once(
        fmt::format("{}: an entry of {} bytes is over the limit of {}: raise "
                    "OVERLAPTUNE_CACHE_MB",
                    options_.folder.string(), entry.size(), options_.largest_bytes));
    return;
  }
  int failure = make_own_folder(options_.folder);
  if (failure == 0) failure = write_own_file(file_of(key), entry, IfThere::replace);
  if (failure != 0) {
    warn_once(
        fmt::format("{}: cannot be written: {}: goes on without; set OVERLAPTUNE_CACHE to "
                    "another folder",
                    options_.folder.string(), std::strerror(failure)));
    return;
  }
  remove_oldest();
}

bool CubinCache::can_store() const {
  return !is_off() && make_own_folder(options_.folder) == 0 &&
         ::access(options_.folder.c_str(), W_OK | X_OK) == 0;
}

void CubinCache::remove_oldest() const {
  std::vector<File> files = files_in(options_.folder);
  std::ranges::sort(files, {}, &File::used);
  std::uint64_t bytes = 0;
  for (const File& file : files) bytes += file.temporary ? 0 : file.bytes;
  const auto now = fs::file_time_type::clock::now();
  std::error_code ignored;  // another process may have been faster
  for (const File& file : files) {
    if (file.temporary) {
      if (now - file.used > kStale) fs::remove(file.path, ignored);
    } else if (bytes > options_.largest_bytes) {
      fs::remove(file.path, ignored);
      bytes -= file.bytes;
    }
  }
}

CubinCache::Contents CubinCache::contents() const {
  Contents contents;
  for (const File& file : files_in(options_.folder)) {
    if (file.temporary) continue;
    ++contents.entries;
    contents.bytes += file.bytes;
  }
  return contents;
}

CubinCache::Contents CubinCache::clear() const {
  Contents removed;
  const auto now = fs::file_time_type::clock::now();
  for (const File& file : files_in(options_.folder)) {
    if (file.temporary && now - file.used <= kStale) continue;  // its writer may still run
    std::error_code failure;
    const bool was_there = fs::remove(file.path, failure);
    if (failure) {
      throw Failure(ErrorKind::cannot_write, fmt::format("{}: cannot be removed: {}",
                                                         file.path.string(), failure.message()));
    }
    if (was_there && !file.temporary) ++removed.entries;
    if (was_there) removed.bytes += file.bytes;
  }
  return removed;
}

}  // namespace overlaptune::kernels
