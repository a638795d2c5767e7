// Headers of generated kernels as nvcc compiles them: one kernel of each kind for the device. (Not
// for the host: nvcc's own code for a launch cannot spell tiles as template arguments.)

#include "tests/kernels/device_headers_read.cpp"
