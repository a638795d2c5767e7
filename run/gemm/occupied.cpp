#include "run/gemm/occupied.hpp"

#include "kernels/support.hpp"

namespace overlaptune::run {
namespace {

/// Time until the occupying CTAs hold their SMs.
constexpr std::int64_t kStart = 50'000;  // ns

}  // namespace

Occupied::Occupied(cudaStream_t stream, int sms) : stream_(stream) {
  if (sms <= 0) return;
  beside_ = make_stream(Priority::high);
  flag_ = device_memory(sizeof(std::uint32_t));
  OVT_CHECK(cudaMemsetAsync(flag_.get(), 0, sizeof(std::uint32_t), beside_.get()));
  OVT_CHECK(kernels::spin(stream, 0));  // loads the kernel
  OVT_CHECK(
      kernels::occupy(beside_.get(), sms, static_cast<std::uint32_t*>(flag_.get()), kLongest));
  OVT_CHECK(kernels::spin(stream, kStart));
}

Occupied::~Occupied() {
  if (!beside_) return;
  static_cast<void>(cudaMemsetAsync(flag_.get(), 1, sizeof(std::uint32_t), stream_));
  static_cast<void>(cudaStreamSynchronize(stream_));
  static_cast<void>(cudaStreamSynchronize(beside_.get()));
}

}  // namespace overlaptune::run
