// A worker without a GPU, for tests: it answers with made-up times, and fails as it is told.
//
// FAKE_FAULT is one of the kinds below, or KIND:RANK for one rank only; it strikes at the start:
//   mute           never connects
//   other_version  is of another build
//   no_gpu         cannot make its backend
//   exit           ends before it says hello
//   other_model    has another GPU
//   cannot_join    fails in join
//   own_host       fails in join unless it is a host of its own to NCCL (NCCL_HOSTID)
// FAKE_BROKEN names a file: while the file exists, no backend can be made; a file with the text
// "once" is removed then. FAKE_DEVICES is the output of --devices: a number of GPUs, or words,
// which are an error. The number of CTAs of a config, or of a copy probe, tells the act that
// happens then: see `Act`. It takes 30 us longer
// in phase `cold`, and refuses `beside`.

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

#include "core/link.hpp"
#include "core/network.hpp"
#include "machine/controller/wire/handshake.hpp"
#include "machine/controller/wire/wire.hpp"
#include "machine/worker/serve.hpp"
#include "tests/machine/controller/acts.hpp"

namespace overlaptune::cuda {
namespace {

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool has_fault(std::string_view kind, int rank) {
  const std::string fault = variable("FAKE_FAULT");
  return fault == kind || fault == fmt::format("{}:{}", kind, rank);
}

[[noreturn]] void hang() {
  while (true) pause();
}

/// The GPU of this rank: a number of the host, as CUDA_VISIBLE_DEVICES lists them.
int gpu_of(int local_rank) {
  std::istringstream visible(variable("CUDA_VISIBLE_DEVICES"));
  std::string number;
  for (int i = 0; i <= local_rank; ++i) std::getline(visible, number, ',');
  return number.empty() ? local_rank : std::stoi(number);
}

Device device_of(int local_rank) {
  return {.model = "NVIDIA Fake 100",
          .sms = 132,
          .compute_capability = 90,
          .memory = {std::int64_t{80} << 30},
          .driver_version = "1.2",
          .cuda_version = "13.0",
          .nccl_version = "2.30.7",
          .topology = "NVSwitch",
          .link = std::string(to_string(link_of({.nvlinks = 18,
                                                 .peers = true,
                                                 .no_p2p = variable("NCCL_P2P_DISABLE") == "1",
                                                 .no_shm = variable("NCCL_SHM_DISABLE") == "1"}))),
          .network = network_of({.wanted = variable("NCCL_NET")}),
          .pci_bus = fmt::format("0000:{:02x}:00.0", gpu_of(local_rank)),
          .numa_node = 0,
          .power_limit_w = 700,
          .max_sm_clock_mhz = 1980,
          .ecc = true};
}

class FakeBackend : public Backend {
 public:
  explicit FakeBackend(const WorkerOptions& options) : options_(options) {
    if (has_fault("no_gpu", options.rank)) {
      throw Failure(ErrorKind::machine_unavailable, fmt::format("no GPU {}", options.local_rank));
    }
    const std::string broken = variable("FAKE_BROKEN");
    if (!broken.empty() && std::filesystem::exists(broken)) {
      std::string times;
      if (std::ifstream(broken) >> times && times == "once") std::filesystem::remove(broken);
      throw Failure(ErrorKind::machine_unavailable, "the GPU fell off the bus");
    }
  }

  /// Hangs, as the destructors of a failed GPU may.
  ~FakeBackend() override {
    if (failed_) hang();
  }
  FakeBackend(const FakeBackend&) = delete;
  FakeBackend& operator=(const FakeBackend&) = delete;

  Device device() override {
    Device device = device_of(options_.local_rank);
    if (has_fault("other_model", options_.rank)) device.model = "NVIDIA Other";
    return device;
  }

  std::string unique_id() override { return "c0ffee"; }

  void join(const JoinRequest& request, int /*rank*/) override {
    if (has_fault("cannot_join", options_.rank) || request.nccl_id != "c0ffee") {
      throw Failure(ErrorKind::machine_unavailable, "the fabric is down");
    }
    if (has_fault("own_host", options_.rank) && variable("NCCL_HOSTID").empty()) {
      throw Failure(ErrorKind::machine_unavailable, "Duplicate GPU detected");
    }
    ranks_ = request.ranks;
  }

  void prepare(const PrepareRequest& request) override {
    if (!request.kernels.empty() && request.kernels.front().regions == 13) do_it(Act::crash);
  }

  Expected<Samples> measure(const Probe& probe) override {
    Samples samples{.times = times(10), .conditions = {.sm_clock_mhz = 1900.0 - options_.rank}};
    if (const auto* copy = std::get_if<CopyProbe>(&probe)) {
      const Act act = static_cast<Act>(copy->ctas);
      if (act == Act::refuse) return bad_input("this cannot be copied");
      if (act == Act::uneven && options_.rank == 1) samples.times.pop_back();
      do_it(act);
    }
    if (std::holds_alternative<ConcurrentProbe>(probe)) samples.collective_times = times(20);
    if (std::holds_alternative<GemmProbe>(probe)) samples.library_tile = Tile{128, 256, 64, 4, 2};
    return samples;
  }

  Expected<RunReply> run(const RunRequest& request,
                         const std::function<void(const RunStep&)>& at) override {
    RunReply reply{.gemm_alone = times(5), .collective_alone = times(6)};
    at({.config = -1, .step = "prepare"});
    if (request.fault == "early") do_it(Act::crash);
    if (request.phase == RunPhase::beside) return bad_input("no memory for a copy");
    for (std::size_t i = 0; i < request.configs.size(); ++i) {
      const Act act = static_cast<Act>(comm_ctas(request.configs[i]));
      at({.config = static_cast<int>(i), .step = "check"});
      if (request.fault == fmt::format("{}:killed_rank", i)) do_it(Act::be_killed);
      if (act == Act::refuse) return bad_input("this problem is too large");
      do_it(act);
      const double base = request.phase == RunPhase::cold ? 40 : 10;
      ConfigSamples samples{.times = times(base)};
      if (act == Act::be_wrong && options_.rank == 1) {
        samples = {.verdict = Verdict::wrong, .reason = "a relative error of 2"};
      }
      reply.configs.push_back(std::move(samples));
    }
    at({.config = -1, .step = "time"});
    const std::string delay = variable("FAKE_RUN_MS");
    if (!delay.empty()) usleep(1000U * static_cast<useconds_t>(std::stoi(delay)));
    return reply;
  }

 private:
  /// Repetition i of rank r: base + r + 10 i, so that the last rank is the slowest.
  [[nodiscard]] std::vector<Microseconds> times(double base) const {
    const double first = base + options_.rank;
    return {us(first), us(first + 10), us(first + 20)};
  }

  /// Does a fatal act on the last rank; the others wait for it then, as they would within a
  /// collective.
  void do_it(Act act) {
    const bool fatal = act == Act::hang || act == Act::crash || act == Act::exit ||
                       act == Act::be_killed || act == Act::fail;
    if (!fatal) return;
    if (options_.rank + 1 != ranks_) hang();
    std::fprintf(stderr, "about to go\n");
    if (act == Act::hang) hang();
    if (act == Act::crash) {
      std::signal(SIGSEGV, SIG_DFL);  // a sanitizer would make an exit of it
      std::raise(SIGSEGV);
    }
    if (act == Act::exit) _exit(7);
    if (act == Act::be_killed) std::raise(SIGKILL);
    failed_ = true;
    throw Failure(ErrorKind::machine_unavailable, "an illegal memory access");
  }

  WorkerOptions options_;
  int ranks_ = 0;
  bool failed_ = false;
};

int list_devices() {
  const std::string devices = variable("FAKE_DEVICES");
  if (devices == "hang") hang();
  char* end = nullptr;
  const long count = std::strtol(devices.c_str(), &end, 10);
  if (*end != '\0') {
    std::printf("{\"error\": \"%s\"}\n", devices.c_str());
    return 3;
  }
  std::vector<Device> list;
  list.reserve(static_cast<std::size_t>(count));
  for (int i = 0; i < count; ++i) list.emplace_back(device_of(i));
  std::puts(to_line(list).c_str());
  return 0;
}

int work(int argc, char** argv) {
  const auto options = worker_options(argc, argv);
  const int rank = options ? options->rank : 0;
  if (has_fault("mute", rank)) hang();
  if (has_fault("exit", rank)) {
    std::fprintf(stderr, "cannot open shared object file\n");
    return 9;
  }
  if (has_fault("other_version", rank)) {
    auto connection = connect_to_controller(
        options->host, options->port, [&] { return options->secret; },
        Clock::now() + std::chrono::seconds(9));
    FakeBackend backend(*options);
    return serve(std::move(*connection), rank, "0.0.1", backend);
  }
  return run_worker(argc, argv,
                    [](const WorkerOptions& own) { return std::make_unique<FakeBackend>(own); });
}

}  // namespace
}  // namespace overlaptune::cuda

int main(int argc, char** argv) {
  const bool asked = argc == 2 && std::string_view(argv[1]) == "--devices";
  return asked ? overlaptune::cuda::list_devices() : overlaptune::cuda::work(argc, argv);
}
