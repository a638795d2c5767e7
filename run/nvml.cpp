#include "run/nvml.hpp"

#include <array>
#include <dlfcn.h>

namespace overlaptune::run {
namespace {

// NVML API Reference: values that its header would name.
constexpr int kSuccess = 0;
constexpr int kSmClock = 1;
constexpr int kSwitch = 2;
constexpr unsigned kMostLinks = 18;

}  // namespace

struct Nvml::Library {
  void* handle = nullptr;
  int (*init)() = nullptr;
  int (*shutdown)() = nullptr;
  int (*by_pci)(const char*, void**) = nullptr;
  int (*clock)(void*, int, unsigned*) = nullptr;
  int (*max_clock)(void*, int, unsigned*) = nullptr;
  int (*power)(void*, unsigned*) = nullptr;
  int (*power_limit)(void*, unsigned*) = nullptr;
  int (*ecc)(void*, int*, int*) = nullptr;
  int (*driver)(char*, unsigned) = nullptr;
  int (*link_state)(void*, unsigned, int*) = nullptr;
  int (*link_type)(void*, unsigned, int*) = nullptr;

  template <class F>
  void load(F& function, const char* name) const {
    function = reinterpret_cast<F>(dlsym(handle, name));
  }
};

Nvml::Nvml(const std::string& pci_bus) : library_(std::make_unique<Library>()) {
  Library& l = *library_;
  l.handle = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (l.handle == nullptr) return;
  l.load(l.init, "nvmlInit_v2");
  l.load(l.shutdown, "nvmlShutdown");
  l.load(l.by_pci, "nvmlDeviceGetHandleByPciBusId_v2");
  l.load(l.clock, "nvmlDeviceGetClockInfo");
  l.load(l.max_clock, "nvmlDeviceGetMaxClockInfo");
  l.load(l.power, "nvmlDeviceGetPowerUsage");
  l.load(l.power_limit, "nvmlDeviceGetEnforcedPowerLimit");
  l.load(l.ecc, "nvmlDeviceGetEccMode");
  l.load(l.driver, "nvmlSystemGetDriverVersion");
  l.load(l.link_state, "nvmlDeviceGetNvLinkState");
  l.load(l.link_type, "nvmlDeviceGetNvLinkRemoteDeviceType");
  if (l.init == nullptr || l.by_pci == nullptr || l.init() != kSuccess) return;
  if (l.by_pci(pci_bus.c_str(), &device_) != kSuccess) device_ = nullptr;
}

Nvml::~Nvml() {
  if (library_->handle == nullptr) return;
  if (library_->shutdown != nullptr) library_->shutdown();
  dlclose(library_->handle);
}

Conditions Nvml::conditions() const {
  Conditions conditions;
  unsigned value = 0;
  if (device_ == nullptr) return conditions;
  if (library_->clock != nullptr && library_->clock(device_, kSmClock, &value) == kSuccess) {
    conditions.sm_clock_mhz = value;
  }
  if (library_->power != nullptr && library_->power(device_, &value) == kSuccess) {
    conditions.power_w = value / 1e3;
  }
  return conditions;
}

std::optional<std::string> Nvml::driver_version() const {
  std::array<char, 96> text{};
  if (device_ == nullptr || library_->driver == nullptr ||
      library_->driver(text.data(), text.size()) != kSuccess) {
    return std::nullopt;
  }
  return std::string(text.data());
}

std::optional<double> Nvml::power_limit_w() const {
  unsigned value = 0;
  if (device_ == nullptr || library_->power_limit == nullptr ||
      library_->power_limit(device_, &value) != kSuccess) {
    return std::nullopt;
  }
  return value / 1e3;
}

std::optional<double> Nvml::max_sm_clock_mhz() const {
  unsigned value = 0;
  if (device_ == nullptr || library_->max_clock == nullptr ||
      library_->max_clock(device_, kSmClock, &value) != kSuccess) {
    return std::nullopt;
  }
  return value;
}

std::optional<bool> Nvml::ecc() const {
  int current = 0;
  int pending = 0;
  if (device_ == nullptr || library_->ecc == nullptr ||
      library_->ecc(device_, &current, &pending) != kSuccess) {
    return std::nullopt;
  }
  return current != 0;
}

Nvml::Links Nvml::links() const {
  Links links;
  if (device_ == nullptr || library_->link_state == nullptr) return links;
  for (unsigned link = 0; link < kMostLinks; ++link) {
    int active = 0;
    if (library_->link_state(device_, link, &active) != kSuccess || active == 0) continue;
    ++links.active;
    int type = 0;
    if (library_->link_type != nullptr && library_->link_type(device_, link, &type) == kSuccess &&
        type == kSwitch) {
      links.switched = true;
    }
  }
  return links;
}

}  // namespace overlaptune::run
