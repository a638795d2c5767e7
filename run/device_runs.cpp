#include "run/device_runs.hpp"

#include <map>

namespace overlaptune::run {

DeviceRuns& DeviceRuns::of(int device) {
  // Never destroyed: at the end of the process the GPU's driver may be gone before.
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::map<int, DeviceRuns>;
  const std::lock_guard lock(mutex);
  return all[device];
}

}  // namespace overlaptune::run
