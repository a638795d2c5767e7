#include "machine/worker/gpu_backend.hpp"

#include <cstring>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "machine/worker/probes/probes.hpp"
#include "machine/worker/validation.hpp"
#include "run/host/inventory.hpp"

namespace overlaptune::cuda {
namespace {

std::string hexadecimal(const ncclUniqueId& id) {
  std::string text;
  for (const char byte : id.internal)
    text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
  return text;
}

ncclUniqueId unique_id_of(const std::string& text) {
  ncclUniqueId id{};
  if (text.size() != 2 * sizeof id.internal) {
    throw Failure(ErrorKind::bad_input, "nccl_id: expected 256 hexadecimal digits");
  }
  for (std::size_t i = 0; i < sizeof id.internal; ++i) {
    id.internal[i] = static_cast<char>(std::stoi(text.substr(2 * i, 2), nullptr, 16));
  }
  return id;
}

int selected(int device) {
  const int count = value_or_throw(run::device_count());
  if (device >= count) {
    throw Failure(ErrorKind::machine_unavailable,
                  fmt::format("GPU {}: this host has {}", device, count));
  }
  OVT_CHECK(cudaSetDevice(device));
  OVT_CHECK(cudaFree(nullptr));  // makes the context
  return device;
}

}  // namespace

GpuBackend::GpuBackend(int device) : device_(selected(device)), nvml_(run::pci_bus(device)) {}

Device GpuBackend::device() {
  return run::inventory(device_, nvml_);
}

std::string GpuBackend::unique_id() {
  ncclUniqueId id{};
  OVT_CHECK(ncclGetUniqueId(&id));
  return hexadecimal(id);
}

void GpuBackend::join(const JoinRequest& request, int rank) {
  test_problem_.reset();
  bench_.reset();
  bench_ = std::make_unique<Workbench>(unique_id_of(request.nccl_id), rank, request.ranks,
                                       request.allow_multicast, nvml_);
}

void GpuBackend::prepare(const PrepareRequest& request) {
  const Workbench& on = bench();
  on.generated.compile(request.kernels, on.world.rank(), on.world.ranks());
}

Workbench& GpuBackend::bench() {
  if (!bench_) throw Failure(ErrorKind::machine_unavailable, "asked to measure before joining");
  return *bench_;
}

Expected<Samples> GpuBackend::measure(const Probe& probe) {
  test_problem_.reset();
  Workbench& on = bench();
  return std::visit([&](const auto& own) { return cuda::measure(on, own); }, probe);
}

Expected<RunReply> GpuBackend::run(const RunRequest& request,
                                   const std::function<void(const RunStep&)>& at) {
  at({.config = -1, .step = "prepare"});
  if (!test_problem_ || test_problem_->problem() != request.problem ||
      test_problem_->seed() != request.seed) {
    test_problem_.reset();
    auto made = TestProblem::prepare(bench(), request.problem, request.seed);
    if (!made) return error_of(made);
    test_problem_ = std::move(*made);
  }
  return validate(bench(), *test_problem_, request, at);
}

}  // namespace overlaptune::cuda
