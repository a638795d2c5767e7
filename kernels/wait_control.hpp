#pragma once
// How the waits of kernels end, as kernels and the host see it.

#include "kernels/device/flags.cuh"

namespace overlaptune::kernels {

using device::Awaited;
using device::WaitControl;

}  // namespace overlaptune::kernels
