#include "run/streams/device_runs.hpp"

#include <map>

#include "core/base/error.hpp"
#include "run/host/inventory.hpp"

namespace overlaptune::run {

DeviceRuns& DeviceRuns::of(int device) {
  // Never destroyed: at the end of the process the GPU's driver may be gone before.
  static auto& mutex = *new std::mutex;
  static auto& all = *new std::map<int, DeviceRuns>;
  const std::lock_guard lock(mutex);
  return all[device];
}

DeviceRuns::Next::Next(DeviceRuns& runs, cudaStream_t stream)
    : runs_(runs), lock_(runs.mutex_), stream_(stream), capture_(CapturedRuns::capture_of(stream)) {
  if (capture_ != 0) {
    runs_.captured_.begin(capture_, stream_);
  } else {
    runs_.last_.begin(stream_);
  }
}

DeviceRuns::Next::~Next() {
  try {
    if (capture_ != 0) {
      runs_.captured_.note(capture_, stream_);
    } else {
      runs_.last_.note(stream_);
    }
  } catch (const Failure&) {  // of the stream itself: its next user is told
    static_cast<void>(cudaGetLastError());
  }
}

}  // namespace overlaptune::run
