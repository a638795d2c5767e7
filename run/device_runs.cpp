#include "run/device_runs.hpp"

#include <map>

#include "run/check.hpp"

namespace overlaptune::run {

DeviceRuns& DeviceRuns::of(int device) {
  // Never destroyed: at the end of the process the GPU's driver may be gone before.
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::map<int, DeviceRuns>;
  const std::lock_guard lock(mutex);
  return all[device];
}

DeviceRuns& DeviceRuns::of_current() {
  int device = 0;
  OVT_CHECK(cudaGetDevice(&device));
  return of(device);
}

}  // namespace overlaptune::run
