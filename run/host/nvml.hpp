#pragma once
// Facts about a GPU from NVML, NVIDIA's management library. NVML comes with the driver and is
// opened at run time. A fact that it does not report is absent.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/measurement.hpp"

namespace overlaptune::run {

class Nvml {
 public:
  /// Opens the first of `libraries` that exists, and finds the GPU at the PCI address `pci_bus`
  /// ("0000:1b:00.0").
  explicit Nvml(const std::string& pci_bus,
                const std::vector<std::string>& libraries = {"libnvidia-ml.so.1"});
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
    bool switched = false;  ///< the links go to NVSwitches, not to other GPUs
  };
  [[nodiscard]] Links links() const;

 private:
  struct Calls;
  std::unique_ptr<Calls> calls_{};  ///< null where there is no NVML
  bool knows_gpu_ = false;
};

}  // namespace overlaptune::run
