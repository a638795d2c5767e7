#pragma once
// The part of NVML that nvml.cpp calls. NVML's own header comes in a package of its own (Debian:
// cuda-nvml-dev-13-0), which many CUDA toolkits lack. Where it is missing, the declarations below
// replace it.

#if __has_include(<nvml.h>)
#include <nvml.h>
#else

// NVML API Reference, "Device Enums", "NvLink Structs and Enums", "Device Queries"; the names are
// NVML's.
// NOLINTBEGIN(readability-identifier-naming)
extern "C" {

enum nvmlReturn_t : unsigned { NVML_SUCCESS = 0 };
enum nvmlEnableState_t : unsigned { NVML_FEATURE_DISABLED = 0, NVML_FEATURE_ENABLED = 1 };
enum nvmlClockType_t : unsigned { NVML_CLOCK_SM = 1 };
enum nvmlIntNvLinkDeviceType_t : unsigned { NVML_NVLINK_DEVICE_TYPE_SWITCH = 2 };
using nvmlDevice_t = struct nvmlDevice_st*;
inline constexpr unsigned NVML_NVLINK_MAX_LINKS = 18;

nvmlReturn_t nvmlInit_v2();
nvmlReturn_t nvmlShutdown();
nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* pci_bus, nvmlDevice_t* device);
nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* mhz);
nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* mhz);
nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* milliwatts);
nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* milliwatts);
nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t* current,
                                  nvmlEnableState_t* pending);
nvmlReturn_t nvmlSystemGetDriverVersion(char* text, unsigned bytes);
nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link,
                                      nvmlEnableState_t* active);
nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned link,
                                                 nvmlIntNvLinkDeviceType_t* type);
}
// NOLINTEND(readability-identifier-naming)

#endif
