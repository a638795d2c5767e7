#include "run/device_runs.hpp"

#include <map>

#include "core/error.hpp"
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

DeviceRuns::Next::~Next() {
  try {
    runs_.last_.note(stream_);
  } catch (const Failure&) {  // of the stream itself: its next user is told
    static_cast<void>(cudaGetLastError());
  }
}

}  // namespace overlaptune::run
