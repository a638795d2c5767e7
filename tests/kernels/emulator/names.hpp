#define __device__
#define __forceinline__ inline
#define __global__
#define __grid_constant__
#define __launch_bounds__(...)
#define __cluster_dims__(...)
using emu::threadIdx; using emu::blockIdx; using emu::gridDim;
inline void __syncthreads() { emu::syncthreads(); }
inline void __syncwarp() { emu::syncwarp(); }
inline int __shfl_sync(unsigned, int v, int lane) { return emu::shfl(v, lane); }
inline void __threadfence() {}
inline unsigned atomicAdd(unsigned* p, unsigned v) { return emu::atomic_add(p, v); }
inline unsigned atomicMax(unsigned* p, unsigned v) { return emu::atomic_max(p, v); }
struct uint4 { unsigned x,y,z,w; };
