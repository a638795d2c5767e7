#include "run/host/nvml.hpp"

#include <array>

#include "core/base/dynamic_library.hpp"
#include "run/host/nvml_api.hpp"

namespace overlaptune::run {

struct Nvml::Calls {
  decltype(&nvmlInit_v2) init = nullptr;
  decltype(&nvmlShutdown) shutdown = nullptr;
  decltype(&nvmlDeviceGetHandleByPciBusId_v2) by_pci = nullptr;
  decltype(&nvmlDeviceGetClockInfo) clock = nullptr;
  decltype(&nvmlDeviceGetMaxClockInfo) max_clock = nullptr;
  decltype(&nvmlDeviceGetPowerUsage) power = nullptr;
  decltype(&nvmlDeviceGetEnforcedPowerLimit) power_limit = nullptr;
  decltype(&nvmlDeviceGetEccMode) ecc = nullptr;
  decltype(&nvmlSystemGetDriverVersion) driver = nullptr;
  decltype(&nvmlDeviceGetNvLinkState) link_state = nullptr;
  decltype(&nvmlDeviceGetNvLinkRemoteDeviceType) link_type = nullptr;
  nvmlDevice_t device{};

  static Expected<Calls> find(const DynamicLibrary& library) {
    Calls calls;
    const auto found = library.find({
        {"nvmlInit_v2", calls.init},
        {"nvmlShutdown", calls.shutdown},
        {"nvmlDeviceGetHandleByPciBusId_v2", calls.by_pci},
        {"nvmlDeviceGetClockInfo", calls.clock},
        {"nvmlDeviceGetMaxClockInfo", calls.max_clock},
        {"nvmlDeviceGetPowerUsage", calls.power},
        {"nvmlDeviceGetEnforcedPowerLimit", calls.power_limit},
        {"nvmlDeviceGetEccMode", calls.ecc},
        {"nvmlSystemGetDriverVersion", calls.driver},
        {"nvmlDeviceGetNvLinkState", calls.link_state},
        {"nvmlDeviceGetNvLinkRemoteDeviceType", calls.link_type},
    });
    if (!found) return error_of(found);
    return calls;
  }
};

Nvml::Nvml(const std::string& pci_bus, const std::vector<std::string>& libraries) {
  const auto calls = load_first(libraries, &Calls::find);
  if (!calls || calls->init() != NVML_SUCCESS) return;
  calls_ = std::make_unique<Calls>(*calls);
  knows_gpu_ = calls_->by_pci(pci_bus.c_str(), &calls_->device) == NVML_SUCCESS;
}

Nvml::~Nvml() {
  if (calls_) calls_->shutdown();
}

Conditions Nvml::conditions() const {
  Conditions conditions;
  if (!knows_gpu_) return conditions;
  unsigned value = 0;
  if (calls_->clock(calls_->device, NVML_CLOCK_SM, &value) == NVML_SUCCESS) {
    conditions.sm_clock_mhz = value;
  }
  if (calls_->power(calls_->device, &value) == NVML_SUCCESS) conditions.power_w = value / 1e3;
  return conditions;
}

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (!knows_gpu_ || calls_->driver(text.data(), text.size()) != NVML_SUCCESS) return std::nullopt;
  return std::string(text.data());
}

std::optional<double> Nvml::power_limit_w() const {
  unsigned value = 0;
  if (!knows_gpu_ || calls_->power_limit(calls_->device, &value) != NVML_SUCCESS) {
    return std::nullopt;
  }
  return value / 1e3;
}

std::optional<double> Nvml::max_sm_clock_mhz() const {
  unsigned value = 0;
  if (!knows_gpu_ || calls_->max_clock(calls_->device, NVML_CLOCK_SM, &value) != NVML_SUCCESS) {
    return std::nullopt;
  }
  return value;
}

std::optional<bool> Nvml::ecc() const {
  nvmlEnableState_t current = NVML_FEATURE_DISABLED;
  nvmlEnableState_t pending = NVML_FEATURE_DISABLED;
  if (!knows_gpu_ || calls_->ecc(calls_->device, &current, &pending) != NVML_SUCCESS) {
    return std::nullopt;
  }
  return current != NVML_FEATURE_DISABLED;
}

Nvml::Links Nvml::links() const {
  Links links;
  if (!knows_gpu_) return links;
  for (unsigned link = 0; link < NVML_NVLINK_MAX_LINKS; ++link) {
    nvmlEnableState_t active = NVML_FEATURE_DISABLED;
    if (calls_->link_state(calls_->device, link, &active) != NVML_SUCCESS ||
        active == NVML_FEATURE_DISABLED) {
      continue;
    }
    ++links.active;
    nvmlIntNvLinkDeviceType_t type{};
    if (calls_->link_type(calls_->device, link, &type) == NVML_SUCCESS &&
        type == NVML_NVLINK_DEVICE_TYPE_SWITCH) {
      links.switched = true;
    }
  }
  return links;
}

}  // namespace overlaptune::run
