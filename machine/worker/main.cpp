// overlaptune-worker: the program of one GPU in `overlaptune --machine cuda`, which starts it.

#include <cstdio>
#include <memory>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/base/error.hpp"
#include "machine/controller/wire/wire.hpp"
#include "machine/worker/gpu_backend.hpp"
#include "machine/worker/serve.hpp"
#include "run/host/inventory.hpp"

namespace {

using namespace overlaptune;
using namespace overlaptune::cuda;

/// Prints the GPUs of this host, or why there are none, as one line of JSON.
int list_devices() {
  try {
    const int count = value_or_throw(run::device_count());
    std::vector<Device> devices;
    devices.reserve(static_cast<std::size_t>(count));
    for (int i = 0; i < count; ++i) {
      devices.push_back(run::inventory(i, run::Nvml(run::pci_bus(i))));
    }
    std::puts(to_line(devices).c_str());
    return 0;
  } catch (const Failure& failure) {
    const nlohmann::json error{{"error", failure.what()}};
    std::puts(error.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    return static_cast<int>(ErrorKind::machine_unavailable);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--devices") return list_devices();
  return run_worker(argc, argv, [](const WorkerOptions& options) {
    return std::make_unique<GpuBackend>(options.local_rank);
  });
}
