#include "run/streams/fork.hpp"

#include "core/base/error.hpp"

namespace overlaptune::run {

Fork::Fork(cudaStream_t stream, cudaEvent_t forked, std::initializer_list<Side> sides)
    : stream_(stream) {
  OVT_CHECK(cudaEventRecord(forked, stream));
  try {
    for (const Side& side : sides) {
      OVT_CHECK(cudaStreamWaitEvent(side.stream, forked, 0));
      sides_.at(count_++) = side;
    }
  } catch (...) {
    join_quietly();
    throw;
  }
}

Fork::~Fork() {
  join_quietly();
}

void Fork::join() {
  while (count_ > 0) {
    const Side& side = sides_[count_ - 1];
    OVT_CHECK(cudaEventRecord(side.end, side.stream));
    OVT_CHECK(cudaStreamWaitEvent(stream_, side.end, 0));
    --count_;
  }
}

/// Does what can be done: a capture may be lost, or the GPU.
void Fork::join_quietly() noexcept {
  for (; count_ > 0; --count_) {
    const Side& side = sides_[count_ - 1];
    const bool joined = cudaEventRecord(side.end, side.stream) == cudaSuccess &&
                        cudaStreamWaitEvent(stream_, side.end, 0) == cudaSuccess;
    if (!joined) static_cast<void>(cudaGetLastError());
  }
}

}  // namespace overlaptune::run
