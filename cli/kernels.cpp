// overlaptune kernels: compiles generated kernels ahead of time and checks them for spills: all of
// them, or those of a database's winners.

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "cli/command.hpp"
#include "cli/cuda_support.hpp"
#include "cli/output/progress.hpp"
#include "core/config/work.hpp"
#include "db/store.hpp"
#include "kernels/compile/compile_all.hpp"
#include "kernels/compile/tiled_source.hpp"
#include "reports/table/table.hpp"

namespace overlaptune::cli {
namespace {

namespace fs = std::filesystem;

using kernels::Compiled;
using kernels::CompileJob;

struct KernelsFlags {
  CommonFlags common{};
  bool compile_all = false;
  std::string database{};
  std::string out{};
  std::vector<std::string> architectures{"sm_80", "sm_89", "sm_90a"};
  std::vector<std::string> only{};
  unsigned threads = 0;
};

/// Whether each of `parts` is the kernel's name or, as `block_n=64` and `RowsThere`, a part of its
/// arguments.
bool has_all(const kernels::KernelSource& source, const std::vector<std::string>& parts) {
  // `hopper_gemm<HopperTile{.block_m=64,.block_n=64},RowsThere>`: words between these.
  constexpr std::string_view kBetween = "<>{},.";
  const std::string name = to_string(source);
  std::set<std::string> words;
  for (std::size_t begin = 0; begin < name.size();) {
    const std::size_t end = std::min(name.find_first_of(kBetween, begin), name.size());
    words.insert(name.substr(begin, end - begin));
    begin = end + 1;
  }
  return std::all_of(parts.begin(), parts.end(),
                     [&](const std::string& part) { return words.count(part) > 0; });
}

/// The platforms that are GPUs, with their compute capabilities.
std::map<PlatformId, int> gpus_of(const Store& store) {
  std::map<PlatformId, int> gpus;
  for (const StoredPlatform& stored : store.platforms()) {
    if (stored.platform.machine != "cuda") continue;
    gpus.emplace(stored.id, stored.platform.compute_capability);
  }
  return gpus;
}

/// The kernel of a winner, if it has one. Error: an older program's config, which is none any more.
Expected<std::optional<CompileJob>> job_of(const Candidate& candidate, int capability) {
  const auto work = Work::make(candidate.problem, candidate.config);
  if (!work) return error_of(work);
  const auto kernel = work->kernel();
  if (!kernel) return std::nullopt;
  auto job = kernels::job_of(*kernel, capability);
  if (!job) return error_of(job);
  return std::move(*job);
}

void let_all_read(const fs::path& path, fs::perms rights) {
  std::error_code failure;
  fs::permissions(path, rights, fs::perm_options::add, failure);
  if (!failure) return;
  throw Failure(ErrorKind::cannot_write,
                fmt::format("--out: {}: {}", path.string(), failure.message()));
}

/// The kernels of all winners that GPUs have measured, each once.
std::vector<CompileJob> jobs_of_winners(const std::string& database) {
  const Store store(database, Access::read);
  const std::map<PlatformId, int> gpus = gpus_of(store);
  std::map<std::string, CompileJob> jobs;
  for (const StoredWinner& stored : store.winners()) {
    const auto gpu = gpus.find(stored.platform);
    if (gpu == gpus.end()) continue;
    const Candidate& candidate = stored.winner.candidate;
    auto job = job_of(candidate, gpu->second);
    if (!job) {
      spdlog::warn("left out the winner of {}, which no plan can run: {}",
                   to_string(candidate.problem), job.error().message);
    } else if (*job) {
      std::string key = kernels::key_of_any_nvrtc((*job)->source, (*job)->architecture);
      jobs.emplace(std::move(key), std::move(**job));
    }
  }
  if (jobs.empty()) {
    refuse(
        "{}: no winner of GPUs has a generated kernel: expected a database that `tune --machine "
        "cuda` has filled",
        database);
  }
  std::vector<CompileJob> list;
  list.reserve(jobs.size());
  for (auto& [key, job] : jobs) list.push_back(std::move(job));
  return list;
}

/// Stores compiled kernels in a cache that any user may read, with any NVRTC or without one.
void store_ahead(const fs::path& folder, const std::vector<CompileJob>& jobs,
                 const std::vector<Expected<Compiled>>& compiled) {
  constexpr std::uint64_t kNoLimit = std::uint64_t{1} << 40;
  constexpr fs::perms kRead = fs::perms::group_read | fs::perms::others_read;
  const kernels::CubinCache cache({.folder = folder, .largest_bytes = kNoLimit});
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    if (!compiled[i]) continue;
    const std::string key = kernels::key_of_any_nvrtc(jobs[i].source, jobs[i].architecture);
    cache.store(key, compiled[i]->cubin);
    if (!cache.find(key)) {
      throw Failure(ErrorKind::cannot_write,
                    fmt::format("--out {}: cannot be written: expected a folder of this user",
                                folder.string()));
    }
    let_all_read(cache.file_of(key), kRead);
  }
  let_all_read(folder, kRead | fs::perms::group_exec | fs::perms::others_exec);
}

std::vector<CompileJob> jobs_of(const KernelsFlags& flags, const kernels::Compiler& compiler) {
  if (!flags.database.empty()) return jobs_of_winners(flags.database);
  std::vector<CompileJob> jobs;
  std::set<std::string> seen;
  for (const std::string& architecture : flags.architectures) {
    if (const auto known = compiler.check_architecture(architecture); !known) {
      throw Failure(Error{known.error().kind, "--arch: " + known.error().message});
    }
    if (!seen.insert(architecture).second) continue;
    for (kernels::KernelSource& source : kernels::kernels_of(architecture)) {
      if (!has_all(source, flags.only)) continue;
      jobs.push_back({.source = std::move(source), .architecture = architecture});
    }
  }
  if (jobs.empty()) {
    refuse(
        "--only {}: no kernel has all of these: expected words of the table, as "
        "hopper_gemm,block_n=64",
        fmt::join(flags.only, ","));
  }
  return jobs;
}

/// Whether a generated kernel is fit to be measured; logs what is wrong with it.
bool is_fit(const CompileJob& job, const Expected<Compiled>& result) {
  if (!result) {
    spdlog::error("{}", result.error().message);
    return false;
  }
  const std::string name = fmt::format("kernel {} for {}", to_string(job.source), job.architecture);
  for (const std::string& line : result->cubin.warnings) spdlog::warn("{}: {}", name, line);
  const auto& [registers, spilled, local, shared] = result->cubin.properties;
  if (spilled == 0 && local == 0) return true;
  spdlog::error("{}: {} bytes of spills, {} bytes of local memory: expected none", name, spilled,
                local);
  return false;
}

Table table_of(const std::vector<CompileJob>& jobs,
               const std::vector<Expected<Compiled>>& results) {
  Table table{.name = "kernels",
              .columns = columns_of("kernel, arch, registers, spill_bytes, local_bytes, "
                                    "static_shared_bytes, cubin_bytes, from_cache")};
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    std::vector<Cell> row{to_string(jobs[i].source), jobs[i].architecture};
    if (const auto& result = results[i]) {
      const auto& [registers, spilled, local, shared] = result->cubin.properties;
      for (const std::int64_t number : {registers, spilled, local, shared,
                                        static_cast<std::int64_t>(result->cubin.bytes.size())}) {
        row.emplace_back(number);
      }
      row.emplace_back(result->from_cache);
    }
    row.resize(table.columns.size());
    table.rows.push_back(std::move(row));
  }
  return table;
}

int compile_all(const KernelsFlags& flags, const Session& /*session*/) {
  if (!flags.compile_all && flags.database.empty()) {
    refuse("kernels: expected --compile-all, or --db FILE");
  }
  require_cuda_support("kernels");
  const kernels::CubinCache cache(value_or_throw(kernels::cubin_cache_options()));
  const auto compiler = value_or_throw(kernels::Compiler::load());
  const std::vector<CompileJob> jobs = jobs_of(flags, compiler);
  std::vector<Expected<Compiled>> results;
  {
    ProgressBar bar;
    const Progress draw = bar.callback();
    results = kernels::compile_all(compiler, cache, jobs, flags.threads,
                                   [&](std::size_t done, std::size_t total, const CompileJob& job) {
                                     return draw(done, total, "compiling " + to_string(job.source));
                                   });
  }
  if (!flags.out.empty()) store_ahead(flags.out, jobs, results);
  const Table table = table_of(jobs, results);
  std::size_t unfit = 0;
  for (std::size_t i = 0; i < jobs.size(); ++i) unfit += is_fit(jobs[i], results[i]) ? 0 : 1;
  print_either(flags.common,
               {{"nvrtc", compiler.version()},
                {"cache", flags.out.empty() ? cache.options().folder.string() : flags.out},
                {"unfit", unfit},
                {"kernels", to_json_rows(table)}},
               to_markdown(table));
  // This program generates the kernels, so an unfit kernel is a defect of the program.
  return unfit == 0 ? kDone : kInternalError;
}

}  // namespace

void add_kernels(CLI::App& root, Session& session) {
  const auto [command, flags] = add_command(
      root, session, "kernels",
      "Compile the generated kernels, without a GPU; exit code 1 if one spills registers or uses "
      "local memory",
      "overlaptune kernels --db cluster.db --out kernels", compile_all);
  CLI::Option* const all =
      command.add_flag("--compile-all", flags.compile_all, "Compile every kernel there is");
  add_text(command, "--db FILE", flags.database,
           "Compile the kernels that the winners of this database need, on its GPUs")
      ->excludes(all);
  add_text(command, "--out FOLDER", flags.out,
           "Folder to fill, for OVERLAPTUNE_CACHE on other hosts: it may be read-only and shared, "
           "and serves without NVRTC");
  command
      .add_option("--arch", flags.architectures,
                  "With --compile-all: architectures to compile for (sm_80,sm_89,sm_90a)")
      ->delimiter(',')
      ->type_name("SM,...")
      ->needs(all);
  command
      .add_option("--only", flags.only,
                  "With --compile-all: only kernels that have all of these words of the table "
                  "(ampere_gemm,block_m=128)")
      ->delimiter(',')
      ->type_name("PART,...")
      ->needs(all);
  add_parsed(command, "--threads N", flags.threads, whole_number<unsigned>(1, 1024),
             "Kernels to compile at once (one a core)");
}

}  // namespace overlaptune::cli
