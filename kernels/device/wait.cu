// A stream's wait for a counter in GPU or peer memory that ends whatever happens: what
// cuStreamWaitValue32 (GEQ) waits for, with a limit. Launch with one thread.

namespace {

__device__ unsigned load_acquire(const unsigned* address) {
  unsigned value;
  asm volatile("ld.acquire.sys.u32 %0, [%1];" : "=r"(value) : "l"(address) : "memory");
  return value;
}

__device__ void store_release(unsigned* address, unsigned value) {
  asm volatile("st.release.sys.u32 [%0], %1;" : : "l"(address), "r"(value) : "memory");
}

__device__ unsigned long long nanoseconds() {
  unsigned long long now;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(now));
  return now;
}

}  // namespace

// Returns once *counter >= value, by the sign of their difference, so that counters may wrap; or
// after limit_ns, with *timed_out set to 1. Where *timed_out is set already it does not wait: the
// waits of one run last limit_ns together, not each.
extern "C" __global__ void __launch_bounds__(1)
    wait_for_value(const unsigned* counter, unsigned value, unsigned long long limit_ns,
                   unsigned* timed_out) {
  const unsigned long long start = nanoseconds();
  while (static_cast<int>(load_acquire(counter) - value) < 0) {
    if (load_acquire(timed_out) != 0) return;
    if (nanoseconds() - start >= limit_ns) {
      store_release(timed_out, 1);
      return;
    }
    __nanosleep(20);  // leaves the memory system to the kernels that are waited for
  }
}
