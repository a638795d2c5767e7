#pragma once
// What NVIDIA's management library tells of a GPU. The library comes with the driver and is loaded
// at run time; what it does not tell is absent.

#include <memory>
#include <optional>
#include <string>

#include "core/measurement.hpp"

namespace overlaptune::run {

class Nvml {
 public:
  /// Of the GPU at that PCI address ("0000:1b:00.0").
  explicit Nvml(const std::string& pci_bus);
  ~Nvml();
  Nvml(const Nvml&) = delete;
  Nvml& operator=(const Nvml&) = delete;

  [[nodiscard]] Conditions conditions() const;
  [[nodiscard]] std::optional<std::string> driver_version() const;
  [[nodiscard]] std::optional<double> power_limit_w() const;
  [[nodiscard]] std::optional<double> max_sm_clock_mhz() const;
  [[nodiscard]] std::optional<bool> ecc() const;

  struct Links {
    int active = 0;
    bool switched = false;  ///< to NVSwitches, not to other GPUs
  };
  [[nodiscard]] Links links() const;

 private:
  struct Library;
  std::unique_ptr<Library> library_;
  void* device_ = nullptr;
};

}  // namespace overlaptune::run
