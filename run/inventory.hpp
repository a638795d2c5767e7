#pragma once
// What GPUs this host has.

#include "core/device.hpp"
#include "run/nvml.hpp"

namespace overlaptune::run {

/// The PCI address of a GPU, as NVML takes it.
[[nodiscard]] std::string pci_bus(int device);

/// The compute capability of the current GPU: 10 * major + minor.
[[nodiscard]] int compute_capability();

/// Throws `Failure` where CUDA does not answer for the device.
[[nodiscard]] Device inventory(int device, const Nvml& nvml);

/// Devices that CUDA sees. Error (`machine_unavailable`): no driver, no GPU.
[[nodiscard]] Expected<int> device_count();

}  // namespace overlaptune::run
