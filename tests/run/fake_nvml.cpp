// A made-up NVML, for machines without a driver: it knows two GPUs by their PCI addresses, one that
// answers every question and one that answers none.

#include <cstring>

#include "run/host/nvml_api.hpp"

#define FAKE extern "C" __attribute__((visibility("default")))

namespace {

constexpr auto kNotSupported = static_cast<nvmlReturn_t>(3);
constexpr auto kNotFound = static_cast<nvmlReturn_t>(6);

int users = 0;
char talkative = 0;
char silent = 0;

nvmlDevice_t device_at(char& place) {
  return nvmlDevice_t{reinterpret_cast<nvmlDevice_st*>(&place)};
}

bool answers(nvmlDevice_t device) {
  const nvmlDevice_t known = device_at(talkative);
  return users > 0 && std::memcmp(&device, &known, sizeof device) == 0;
}

template <class T>
nvmlReturn_t answer(nvmlDevice_t device, T* to, T value) {
  if (!answers(device)) return kNotSupported;
  *to = value;
  return NVML_SUCCESS;
}

}  // namespace

FAKE int fake_nvml_users() {
  return users;
}

FAKE nvmlReturn_t nvmlInit_v2() {
  ++users;
  return NVML_SUCCESS;
}

FAKE nvmlReturn_t nvmlShutdown() {
  --users;
  return NVML_SUCCESS;
}

FAKE nvmlReturn_t nvmlDeviceGetHandleByPciBusId_v2(const char* pci_bus, nvmlDevice_t* device) {
  if (std::strcmp(pci_bus, "0000:01:00.0") == 0) {
    *device = device_at(talkative);
  } else if (std::strcmp(pci_bus, "0000:02:00.0") == 0) {
    *device = device_at(silent);
  } else {
    return kNotFound;
  }
  return NVML_SUCCESS;
}

FAKE nvmlReturn_t nvmlDeviceGetClockInfo(nvmlDevice_t device, nvmlClockType_t type, unsigned* mhz) {
  return type == NVML_CLOCK_SM ? answer(device, mhz, 1305U) : kNotSupported;
}

FAKE nvmlReturn_t nvmlDeviceGetMaxClockInfo(nvmlDevice_t device, nvmlClockType_t type,
                                            unsigned* mhz) {
  return type == NVML_CLOCK_SM ? answer(device, mhz, 1980U) : kNotSupported;
}

FAKE nvmlReturn_t nvmlDeviceGetPowerUsage(nvmlDevice_t device, unsigned* milliwatts) {
  return answer(device, milliwatts, 123'400U);
}

FAKE nvmlReturn_t nvmlDeviceGetEnforcedPowerLimit(nvmlDevice_t device, unsigned* milliwatts) {
  return answer(device, milliwatts, 700'000U);
}

FAKE nvmlReturn_t nvmlDeviceGetEccMode(nvmlDevice_t device, nvmlEnableState_t* current,
                                       nvmlEnableState_t* pending) {
  *pending = NVML_FEATURE_DISABLED;
  return answer(device, current, NVML_FEATURE_ENABLED);
}

FAKE nvmlReturn_t nvmlSystemGetDriverVersion(char* text, unsigned bytes) {
  std::strncpy(text, "580.95.05", bytes);
  return NVML_SUCCESS;
}

// Links 0 to 3 exist; 2 is down, and only 3 leads to a switch.
FAKE nvmlReturn_t nvmlDeviceGetNvLinkState(nvmlDevice_t device, unsigned link,
                                           nvmlEnableState_t* active) {
  if (link > 3) return kNotSupported;
  return answer(device, active, link == 2 ? NVML_FEATURE_DISABLED : NVML_FEATURE_ENABLED);
}

FAKE nvmlReturn_t nvmlDeviceGetNvLinkRemoteDeviceType(nvmlDevice_t device, unsigned link,
                                                      nvmlIntNvLinkDeviceType_t* type) {
  return answer(
      device, type,
      link == 3 ? NVML_NVLINK_DEVICE_TYPE_SWITCH : static_cast<nvmlIntNvLinkDeviceType_t>(0));
}
