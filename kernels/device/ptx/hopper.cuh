#pragma once
// Instructions of the GEMM on Hopper beside those of common.cuh, one function for each. Addresses
// of shared memory are those of `shared_address`.
//
// Sources: PTX ISA 8.x, "mbarrier", "cp.async.bulk", "cp.async.bulk.tensor", "Asynchronous
// warpgroup level matrix instructions" (matrix descriptors), "setmaxnreg"; CUDA C++ Programming
// Guide, "Tensor map".

#include "kernels/device/ptx/common.cuh"

namespace overlaptune::kernels::device {

__device__ __forceinline__ void barrier_init(u32 barrier, u32 count) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}

__device__ __forceinline__ void barrier_expect(u32 barrier, u32 bytes) {
  asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
               : "memory");
}

__device__ __forceinline__ void barrier_arrive(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(barrier) : "memory");
}

__device__ __forceinline__ void barrier_wait(u32 barrier, u32 phase) {
  asm volatile(
      "{\n"
      ".reg .pred done;\n"
      "again:\n"
      "mbarrier.try_wait.parity.shared::cta.b64 done, [%0], %1;\n"
      "@done bra.uni ready;\n"
      "bra.uni again;\n"
      "ready:\n"
      "}\n" ::"r"(barrier),
      "r"(phase)
      : "memory");
}

/// Read anew each time: a copy takes a register.
__device__ __forceinline__ u32 cluster_rank() {
  u32 rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

/// The address in the other CTA of the cluster that corresponds to `address` in this one.
__device__ __forceinline__ u32 at_other(u32 address) {
  u32 there;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(address), "r"(cluster_rank() ^ 1));
  return there;
}

/// A barrier of all threads of both CTAs.
__device__ __forceinline__ void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release;\nbarrier.cluster.wait.acquire;" ::: "memory");
}

/// Stores a word in the other CTA, whose barrier counts its bytes.
__device__ __forceinline__ void send_to_other(u32 to, u32 value, u32 barrier) {
  asm volatile("st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(
                   at_other(to)),
               "r"(value), "r"(at_other(barrier))
               : "memory");
}

__device__ __forceinline__ void barrier_arrive_at_other(u32 barrier) {
  asm volatile("mbarrier.arrive.shared::cluster.b64 _, [%0];" ::"r"(at_other(barrier)) : "memory");
}

__device__ __forceinline__ void prefetch(const TensorMap* map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}

__device__ __forceinline__ void load(u32 to, const TensorMap* map, u32 barrier, int x, int y,
                                     int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      " [%0], [%1, {%3, %4, %5}], [%2];" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z)
      : "memory");
}

/// Loads to the same place in both CTAs; the barrier of each counts the bytes.
__device__ __forceinline__ void load_for_both(u32 to, const TensorMap* map, u32 barrier, int x,
                                              int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.mbarrier::complete_tx::bytes"
      ".multicast::cluster [%0], [%1, {%3, %4, %5}], [%2], %6;" ::"r"(to),
      "l"(map), "r"(barrier), "r"(x), "r"(y), "r"(z), "h"(static_cast<short>(3))
      : "memory");
}

__device__ __forceinline__ void store(const TensorMap* map, u32 from, int x, int y, int z) {
  asm volatile(
      "cp.async.bulk.tensor.3d.global.shared::cta.bulk_group [%0, {%2, %3, %4}], [%1];" ::"l"(map),
      "r"(from), "r"(x), "r"(y), "r"(z)
      : "memory");
}

/// Loads consecutive bytes; the barrier counts them. Addresses and size: multiples of 16.
__device__ __forceinline__ void load_bytes(u32 to, const char* from, u32 barrier, u32 bytes) {
  asm volatile(
      "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::
          "r"(to),
      "l"(from), "r"(bytes), "r"(barrier)
      : "memory");
}

__device__ __forceinline__ void store_bytes(char* to, u32 from, u32 bytes) {
  asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(to), "r"(from),
               "r"(bytes)
               : "memory");
}

/// The matrix descriptor of swizzled 128-byte rows: 1024 bytes from one group of 8 rows to the
/// next.
__device__ __forceinline__ u64 descriptor(u32 address) {
  return (u64{1} << 62) | (u64{1024 >> 4} << 32) | (u64{1} << 16) | ((address & 0x3ffff) >> 4);
}

/// Ends a group of bulk stores.
__device__ __forceinline__ void end_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

/// Waits until the stores of all groups but the last `kLeft` have read what they store.
template <int kLeft>
__device__ __forceinline__ void wait_for_reads() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}

/// Waits until the stores of all groups but the last `kLeft` are in memory, also in that of peers.
template <int kLeft>
__device__ __forceinline__ void wait_for_stores() {
  asm volatile("cp.async.bulk.wait_group %0;" ::"n"(kLeft) : "memory");
}

/// Orders what this thread has written into shared memory before copies of TMA.
__device__ __forceinline__ void fence_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

/// Makes mbarriers known to the cluster and to TMA.
__device__ __forceinline__ void fence_barriers() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  fence_shared();
}

/// A barrier of the threads of a consumer.
__device__ __forceinline__ void consumer_barrier(int consumer) {
  asm volatile("bar.sync %0, 128;" ::"r"(1 + consumer) : "memory");
}

template <int kRegisters>
__device__ __forceinline__ void give_registers() {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 %0;" ::"n"(kRegisters));
}
template <int kRegisters>
__device__ __forceinline__ void take_registers() {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 %0;" ::"n"(kRegisters));
}

// A group of wgmmas: begin_wgmma, `multiply` (wgmma.cuh) again and again, end_wgmma.

__device__ __forceinline__ void begin_wgmma() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
__device__ __forceinline__ void end_wgmma() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}
template <int kLeft>
__device__ __forceinline__ void wait_for_wgmma() {
  asm volatile("wgmma.wait_group.sync.aligned %0;" ::"n"(kLeft) : "memory");
}

/// Tells the compiler that a sum is complete only from here on.
__device__ __forceinline__ void completed(float& sum) {
  asm volatile("" : "+f"(sum)::"memory");
}

/// Stores four matrices of 8 x 8 pairs, each lane the address of a row.
template <bool kTransposes>
__device__ __forceinline__ void store_matrices(u32 at, u32 a, u32 b, u32 c, u32 d) {
  if (kTransposes) {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.trans.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
  } else {
    asm volatile("stmatrix.sync.aligned.m8n8.x4.shared.b16 [%0], {%1, %2, %3, %4};" ::"r"(at),
                 "r"(a), "r"(b), "r"(c), "r"(d)
                 : "memory");
  }
}

__device__ __forceinline__ void store_word(u32 at, u32 word) {
  asm volatile("st.shared.u32 [%0], %1;" ::"r"(at), "r"(word) : "memory");
}
__device__ __forceinline__ u32 word_at(u32 at) {
  u32 word;
  asm volatile("ld.shared.u32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
  return word;
}

/// Tells the CTA's other threads a word, and with it what this thread has done and seen before.
__device__ __forceinline__ void publish_here(u32 at, u32 word) {
  asm volatile("st.release.cta.shared.u32 [%0], %1;" ::"r"(at), "r"(word) : "memory");
}
__device__ __forceinline__ u32 acquired_here(u32 at) {
  u32 word;
  asm volatile("ld.acquire.cta.shared.u32 %0, [%1];" : "=r"(word) : "r"(at) : "memory");
  return word;
}
__device__ __forceinline__ void store_words(u32 at, u32 a, u32 b, u32 c, u32 d) {
  asm volatile("st.shared.v4.u32 [%0], {%1, %2, %3, %4};" ::"r"(at), "r"(a), "r"(b), "r"(c), "r"(d)
               : "memory");
}
__device__ __forceinline__ void read_words(u32 at, u32 (&words)[4]) {
  asm volatile("ld.shared.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
               : "r"(at)
               : "memory");
}

/// Stores four sums in the other CTA, at an address of `at_other`.
__device__ __forceinline__ void store_sums(u32 there, const float* sum) {
  asm volatile("st.shared::cluster.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(there), "f"(sum[0]),
               "f"(sum[1]), "f"(sum[2]), "f"(sum[3])
               : "memory");
}
__device__ __forceinline__ void read_sums(u32 at, float (&sums)[4]) {
  asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
               : "=f"(sums[0]), "=f"(sums[1]), "=f"(sums[2]), "=f"(sums[3])
               : "r"(at)
               : "memory");
}

/// The CTA's dynamic shared memory.
__device__ __forceinline__ char* dynamic_memory() {
  extern __shared__ char hopper_memory[];
  return hopper_memory;
}
/// The CTA's one object of a type.
template <class T>
__device__ __forceinline__ T& shared_object() {
  __shared__ T object;
  return object;
}

}  // namespace overlaptune::kernels::device
