#include "machine/catalogue.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include "core/base/environment.hpp"
#include "core/base/text_file.hpp"
#include "core/capabilities.hpp"
#include "machine/controller/cuda_machine.hpp"
#include "machine/controller/launch/agent.hpp"
#include "machine/controller/launch/installation.hpp"
#include "machine/controller/launch/job_secret.hpp"
#include "machine/controller/launch/mpi_rendezvous.hpp"
#include "machine/simulator/profile.hpp"
#include "machine/simulator/sim_machine.hpp"

namespace overlaptune {
namespace {

constexpr std::string_view kSimPrefix = "sim:";
constexpr std::string_view kCudaPrefix = "cuda:";

bool is_cuda(std::string_view name) {
  return name == "cuda" || name.starts_with(kCudaPrefix);
}

/// The machine, if it is the one that was asked for: "cuda", "auto" or its full name.
Expected<std::unique_ptr<Machine>> only_if_named(Expected<std::unique_ptr<Machine>> machine,
                                                 std::string_view name) {
  if (!machine || !name.starts_with(kCudaPrefix)) return machine;
  const std::string found = full_name((*machine)->platform());
  if (found == name) return machine;
  return bad_input(fmt::format("machine '{}': the GPUs of this host are {}: expected cuda or {}",
                               name, found, found));
}

Expected<sim::Profile> read_profile(const std::filesystem::path& path) {
  const auto text = read_text_file(path, sim::kLargestProfile);
  if (!text) return bad_input("--profile " + text.error().message);
  auto profile = sim::parse_profile(*text, path.string());
  if (profile) {
    for (const std::string& field : profile->unknown_fields) {
      spdlog::warn("{}: {}", path.string(), field);
    }
  }
  return profile;
}

/// The built-in profiles, the default one first, then those of the options.
Expected<std::vector<sim::Profile>> all_profiles(const MachineOptions& options) {
  std::vector<sim::Profile> profiles;
  for (const sim::EmbeddedProfile& embedded : sim::embedded_profiles()) {
    profiles.push_back(value_or_throw(sim::parse_profile(embedded.text, embedded.name)));
  }
  for (const std::filesystem::path& path : options.profiles) {
    auto profile = read_profile(path);
    if (!profile) return error_of(profile);
    for (const sim::Profile& known : profiles) {
      if (known.name == profile->name) {
        return bad_input(fmt::format("{}: name: '{}' is taken by another profile; choose another",
                                     path.string(), profile->name));
      }
    }
    profiles.push_back(std::move(*profile));
  }
  return profiles;
}

tl::unexpected<Error> cuda_error(const Error& error) {
  return tl::make_unexpected(Error{error.kind, "machine cuda: " + error.message});
}

/// The rank of this process in its launch, the address at which the ranks meet, and their secret.
Expected<cuda::LaunchEnvironment> find_launch() {
  const Variables& variables = process_variables();
  auto ranks = cuda::read_ranks(variables);
  if (!ranks) return ranks;
  const auto met = cuda::meet_by_mpi(*ranks);
  if (!met) return error_of(met);
  auto launch = *met ? Expected<cuda::LaunchEnvironment>(**met) : cuda::read_launch(variables);
  if (!launch) return launch;
  if (const auto found = cuda::find_secret(*launch, variables); !found) return error_of(found);
  return launch;
}

/// The GPUs that this process may use. Sets `launch.local_rank` to the GPU of its rank.
Expected<cuda::Installation> find_gpus(cuda::LaunchEnvironment& launch) {
  auto installation = cuda::find_installation();
  if (!installation) return installation;
  const auto own = cuda::own_gpu(*installation, launch);
  if (!own) return error_of(own);
  launch.local_rank = *own;
  return installation;
}

Expected<std::unique_ptr<Machine>> open_cuda(const cuda::LaunchEnvironment& launch,
                                             const cuda::Installation& installation,
                                             const MachineOptions& options) {
  const int count = installation.ranks();
  const bool sharing = installation.ranks_per_gpu > 1;
  const bool launched = launch.launcher != cuda::Launcher::plain;
  if (!launched && (options.ranks == 1 || options.ranks < 0 || options.ranks > count)) {
    return bad_input(fmt::format("machine cuda: ranks = {}: expected 2 to the {} {} of this host",
                                 options.ranks, count, sharing ? "ranks" : "GPUs"));
  }
  if (sharing) {
    spdlog::warn("{} is set: {} ranks share each GPU, and no time means anything",
                 kRanksPerGpuVariable, installation.ranks_per_gpu);
  }
  return cuda::CudaMachine::open(
      {.worker = installation.worker,
       .ranks = options.ranks == 0 ? count : options.ranks,
       .ranks_per_gpu = installation.ranks_per_gpu,
       .launch = launch,
       .allow_multicast = options.allow_multicast,
       .seed = options.seed,
       .fault = options.faults,
       .limits = sharing ? cuda::limits_of_sharing_ranks() : cuda::Limits{}},
      cuda::take_mpi_listener());
}

MachineEntry cuda_entry() {
  MachineEntry entry{.name = "cuda", .description = "the GPUs of this host"};
  cuda::LaunchEnvironment plain;
  const auto installation = find_gpus(plain);
  if (installation) {
    const Device& first = installation->devices.front();
    const Platform platform{.machine = "cuda",
                            .gpu_count = installation->ranks(),
                            .sms = first.sms,
                            .compute_capability = first.compute_capability,
                            .link = first.link};
    entry.description = fmt::format(
        "{} x {} of this host, {}{}: {}", installation->devices.size(), first.model, first.link,
        installation->ranks_per_gpu > 1
            ? fmt::format(", {} ranks on each", installation->ranks_per_gpu)
            : "",
        abilities_in_words(platform));
  } else {
    entry.available = false;
    entry.reason = installation.error().message;
  }
  return entry;
}

}  // namespace

std::string why_no_gpus() {
  return cuda_entry().reason;
}

Expected<std::vector<MachineEntry>> list_machines(const MachineOptions& options) {
  const auto profiles = all_profiles(options);
  if (!profiles) return error_of(profiles);
  std::vector<MachineEntry> entries;
  for (const sim::Profile& profile : *profiles) {
    entries.push_back(
        {.name = std::string(kSimPrefix) + profile.name, .description = profile.description});
  }
  entries.push_back(cuda_entry());
  return entries;
}

Expected<std::unique_ptr<Machine>> open_machine(std::string_view name,
                                                const MachineOptions& options) {
  if (is_cuda(name) || name == "auto") {
    auto launch = find_launch();
    if (!launch) return cuda_error(launch.error());
    const auto gpus = find_gpus(*launch);
    if (gpus) {
      if (!launch->warning.empty()) spdlog::warn(launch->warning);
      if (name == "auto") spdlog::info("machine auto: cuda, {} GPUs", gpus->devices.size());
      return only_if_named(open_cuda(*launch, *gpus, options), name);
    }
    const bool launched = launch->launcher != cuda::Launcher::plain;
    if (is_cuda(name) || launched) return cuda_error(gpus.error());
    spdlog::debug("machine auto: a simulated one, since cuda is not available: {}",
                  gpus.error().message);
  }
  auto profiles = all_profiles(options);
  if (!profiles) return error_of(profiles);
  const auto faults = sim::parse_faults(options.faults);
  if (!faults) return error_of(faults);

  std::vector<std::string> known{"auto", "cuda"};
  for (sim::Profile& profile : *profiles) {
    const std::string own = std::string(kSimPrefix) + profile.name;
    // Without GPUs "auto" is the first profile.
    if (name == own || name == "auto") {
      return std::make_unique<sim::SimMachine>(
          std::move(profile), sim::SimOptions{.seed = options.seed, .faults = *faults});
    }
    known.push_back(own);
  }
  return bad_input(fmt::format("machine '{}': expected one of {}", name, fmt::join(known, ", ")));
}

Expected<std::optional<int>> serve_launched_rank(std::string_view name) {
  if (!is_cuda(name) && name != "auto") return std::nullopt;
  auto launch = find_launch();
  if (!launch) return cuda_error(launch.error());
  if (launch->rank == 0) return std::nullopt;
  const auto gpus = find_gpus(*launch);
  if (!gpus) return cuda_error(gpus.error());
  return cuda::run_agent(*launch, {.worker = gpus->worker});
}

void finish_launched_ranks(int exit_code) {
  cuda::dismiss_agents(exit_code);
}

}  // namespace overlaptune
