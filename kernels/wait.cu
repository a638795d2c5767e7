#include "kernels/wait.cuh"
#include "kernels/wait.hpp"

namespace overlaptune::kernels {
namespace {

__global__ void wait_kernel(const std::uint32_t* address, std::uint32_t value) {
  wait_for(address, value);
}

}  // namespace

void wait_for_value(cudaStream_t stream, const std::uint32_t* address, std::uint32_t value) {
  wait_kernel<<<1, 1, 0, stream>>>(address, value);
}

}  // namespace overlaptune::kernels
