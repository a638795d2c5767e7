#pragma once
// The GPUs of this host.

#include "core/device.hpp"
#include "run/host/nvml.hpp"

namespace overlaptune::run {

/// The PCI address of a GPU, in the form that NVML takes.
[[nodiscard]] std::string pci_bus(int device);

[[nodiscard]] int current_device();
/// SMs of a GPU.
[[nodiscard]] int sms_of(int device);

/// Whether the GPU has NVLink multicast, and the environment does not forbid it to NCCL
/// (NCCL_NVLS_ENABLE=0), nor do its files.
[[nodiscard]] bool multicast_is_on(int device);

/// The compute capability of the current GPU: 10 * major + minor.
[[nodiscard]] int compute_capability();

/// A description of a GPU. Throws `Failure` where CUDA does not answer for the device.
[[nodiscard]] Device inventory(int device, const Nvml& nvml);

/// The number of devices that CUDA sees. Error (`machine_unavailable`): no driver, or no GPU.
[[nodiscard]] Expected<int> device_count();

}  // namespace overlaptune::run
