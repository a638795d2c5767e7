#include "machine/controller/launch/installation.hpp"

#include <filesystem>

#include <fmt/format.h>

#include "core/base/environment.hpp"
#include "core/gpu_sharing.hpp"
#include "machine/controller/launch/process.hpp"
#include "machine/controller/wire/wire.hpp"

namespace overlaptune::cuda {
namespace {

Expected<std::string> find_worker() {
  std::error_code failure;
  const auto named = environment().worker;
  const std::filesystem::path path =
      named ? std::filesystem::path(*named)
            : std::filesystem::read_symlink("/proc/self/exe", failure).parent_path() /
                  "overlaptune-worker";
  if (std::filesystem::is_regular_file(path, failure)) return path.string();
  if (named) {
    return unavailable(fmt::format("{} = {}: expected a program", kWorkerVariable, *named));
  }
  return unavailable(
      "no overlaptune-worker beside the program, which was built without CUDA or copied alone; use "
      "a simulated machine (sim:...)");
}

Expected<int> find_ranks_per_gpu() {
  const auto text = environment().ranks_per_gpu;
  if (!text) return 1;
  if (const auto ranks = whole_number(*text, 1, kMostRanksPerGpu)) return *ranks;
  return unavailable(fmt::format("{} = {}: expected a whole number from 1 to {}",
                                 kRanksPerGpuVariable, *text, kMostRanksPerGpu));
}

}  // namespace

Expected<Installation> find_installation(std::chrono::milliseconds limit) {
  const auto worker = find_worker();
  if (!worker) return error_of(worker);
  const auto ranks_per_gpu = find_ranks_per_gpu();
  if (!ranks_per_gpu) return error_of(ranks_per_gpu);
  auto process =
      Process::start({.program = *worker, .arguments = {"--devices"}, .keep_output = true});
  if (!process) return error_of(process);
  const auto ending = process->wait(Clock::now() + limit);
  if (!ending) {
    return unavailable(
        fmt::format("{} --devices: no answer within {:.3g} s: look whether "
                    "`nvidia-smi` answers",
                    *worker, std::chrono::duration<double>(limit).count()));
  }
  auto devices = parse_devices(process->output());
  if (devices) return Installation{*worker, std::move(*devices), *ranks_per_gpu};
  // The worker's message, if it could print one: {"error": ...}.
  if (process->output().starts_with("{\"error\"")) return error_of(devices);
  const std::string words = last_lines(process->last_words());
  return unavailable(fmt::format("{} --devices: {}{}", *worker, to_string(*ending),
                                 words.empty() ? "" : ": " + words));
}

Expected<int> own_gpu(const Installation& installation, const LaunchEnvironment& launch) {
  const auto count = static_cast<int>(installation.devices.size());
  if (launch.launcher == Launcher::plain) {
    if (installation.ranks() >= 2) return 0;
    return unavailable(fmt::format("{} on this host, and a collective needs at least two",
                                   count == 1 ? "one GPU" : "no GPU"));
  }
  if (installation.ranks_per_gpu > 1) {
    return unavailable(
        fmt::format("{}: expected no launcher: start the program by itself", kRanksPerGpuVariable));
  }
  // Each rank sees one GPU, as with `srun --gpus-per-task=1`. Whether these differ shows when the
  // ranks meet.
  if (count == 1) return 0;
  if (launch.local_rank < count) return launch.local_rank;
  return unavailable(
      fmt::format("rank {} is number {} of its host, which has {} GPUs: start one "
                  "rank a GPU",
                  launch.rank, launch.local_rank, count));
}

}  // namespace overlaptune::cuda
