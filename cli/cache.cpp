// overlaptune cache: shows and clears the compiled kernels on disk.

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/cuda_support.hpp"
#include "kernels/compile/cubin_cache.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {
namespace {

kernels::CubinCache open_cache() {
  require_cuda_support("cache");
  kernels::CubinCacheOptions options = value_or_throw(kernels::cubin_cache_options());
  if (options.folder.empty()) {
    refuse("kernel cache: no folder: set OVERLAPTUNE_CACHE, XDG_CACHE_HOME or HOME");
  }
  return kernels::CubinCache(std::move(options));
}

struct CacheFlags {
  CommonFlags common{};
};

int info(const CacheFlags& flags, const Session& /*session*/) {
  const kernels::CubinCache cache = open_cache();
  const auto [entries, bytes] = cache.contents();
  const auto& [folder, largest] = cache.options();
  return print_either(
      flags.common,
      {{"folder", folder.string()},
       {"entries", entries},
       {"bytes", bytes},
       {"largest_bytes", largest}},
      fmt::format("{:15} {}\n{:15} {}\n{:15} {}\n{:15} {}\n", "folder", folder.string(), "entries",
                  entries, "bytes", bytes, "largest_bytes", largest));
}

int clear(const CacheFlags& flags, const Session& /*session*/) {
  const kernels::CubinCache cache = open_cache();
  const auto [entries, bytes] = cache.clear();
  const std::string folder = cache.options().folder.string();
  return print_either(flags.common,
                      {{"folder", folder}, {"removed_entries", entries}, {"removed_bytes", bytes}},
                      fmt::format("{}: removed {} entries, {} bytes\n", folder, entries, bytes));
}

}  // namespace

void add_cache(CLI::App& root, Session& session) {
  CLI::App* group = root.add_subcommand("cache", "Look at and clear the cache of compiled kernels");
  group->require_subcommand(1);
  group->footer("Example:\n  overlaptune cache info");
  add_command(*group, session, "info", "Folder, entries and bytes", "overlaptune cache info --json",
              info);
  add_command(*group, session, "clear",
              "Remove every compiled kernel; they are compiled again when needed",
              "overlaptune cache clear", clear);
}

}  // namespace overlaptune::cli
