#include "run/last_run.hpp"

namespace overlaptune::run {
namespace {

unsigned long long number_of(cudaStream_t stream) {
  unsigned long long number = 0;
  OVT_CHECK(cudaStreamGetId(stream, &number));
  return number;
}

}  // namespace

void LastRun::order(cudaStream_t stream) const {
  if (!end_ || number_of(stream) == stream_) return;
  OVT_CHECK(cudaStreamWaitEvent(stream, end_.get(), 0));
}

void LastRun::note(cudaStream_t stream) {
  if (!end_) end_ = make_event(false);
  OVT_CHECK(cudaEventRecord(end_.get(), stream));
  stream_ = number_of(stream);
}

}  // namespace overlaptune::run
