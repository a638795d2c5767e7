#include "cli/kernels_ahead.hpp"

#include <map>
#include <optional>

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "cli/command.hpp"
#include "core/config/work.hpp"
#include "db/store.hpp"
#include "kernels/compile/tiled_source.hpp"

namespace overlaptune::cli {
namespace {

namespace fs = std::filesystem;

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
Expected<std::optional<kernels::CompileJob>> job_of(const Candidate& candidate, int capability) {
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

}  // namespace

std::vector<kernels::CompileJob> jobs_of_winners(const std::string& database) {
  const Store store(database, Access::read);
  const std::map<PlatformId, int> gpus = gpus_of(store);
  std::map<std::string, kernels::CompileJob> jobs;
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
  std::vector<kernels::CompileJob> list;
  list.reserve(jobs.size());
  for (auto& [key, job] : jobs) list.push_back(std::move(job));
  return list;
}

void store_ahead(const fs::path& folder, const std::vector<kernels::CompileJob>& jobs,
                 const std::vector<Expected<kernels::Compiled>>& compiled) {
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

}  // namespace overlaptune::cli
