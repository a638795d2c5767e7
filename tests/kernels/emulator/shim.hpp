#pragma once
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <random>
#include <set>
#include <thread>
#include <vector>
#include <memory>
#include <functional>
namespace emu {
constexpr int kLanes = 4;       // of each warp of the first warpgroup
struct Dim { unsigned x = 0; };
inline thread_local Dim threadIdx, blockIdx, gridDim;
struct Barrier { unsigned count = 0, pending = 0; long tx = 0; unsigned phase = 0; };
struct Rendezvous { int want = 0, here = 0; unsigned gen = 0; };
struct Tag { const void* map = nullptr; int x = -1, y = -1, z = -1; };
struct Cta {
  std::vector<char> memory = std::vector<char>(512 << 10);
  std::map<unsigned, Barrier> barriers;
  std::map<unsigned, Tag> tags;     // what was loaded where
  std::map<unsigned, std::array<int,3>> slabs;  // which tile a slab has
  std::map<int, Rendezvous> meets;  // 0: all; 1+w: warps
  int number = 0, cluster = 1;      // global number
  bool exited = false; int alive = 0;
};
struct ClusterMeet { Rendezvous r; };
inline std::vector<std::unique_ptr<Cta>> ctas;
inline std::map<int, Rendezvous> clusters;
inline int threads_of_cta = 0;
inline std::mutex m;
inline std::condition_variable cv;
inline std::atomic<bool> stop{false};
inline std::atomic<long> progress{0};
inline std::atomic<int> errors{0};
inline thread_local Cta* cta_ = nullptr;
inline thread_local std::mt19937 rng{1};
struct Stop {};
inline void jitter() { unsigned r = rng() % 64; if (r == 0) std::this_thread::sleep_for(std::chrono::microseconds(rng() % 200)); else if (r < 8) std::this_thread::yield(); }
template <class P> void block(std::unique_lock<std::mutex>& l, P p) {
  while (!p()) { if (stop) throw Stop{}; cv.wait_for(l, std::chrono::milliseconds(20)); }
  ++progress;
}
inline void fail(const char* what) { if (errors++ < 10) std::fprintf(stderr, "ERROR %s\n", what); }
inline char* at(unsigned a) { return ctas[a >> 20]->memory.data() + (a & 0xfffff); }
inline unsigned address(const void* p) { return (static_cast<unsigned>(cta_->number) << 20) | static_cast<unsigned>(static_cast<const char*>(p) - cta_->memory.data()); }
inline Barrier& bar(unsigned a) { Cta& c = *ctas[a >> 20]; if (c.exited) fail("barrier of a CTA that has ended"); return c.barriers[a & 0xfffff]; }
inline void settle(Barrier& b) { if (b.pending == 0 && b.tx == 0) { b.pending = b.count; ++b.phase; } }
inline void init(unsigned a, unsigned n) { std::lock_guard l(m); if (n >= 128) n /= 128; bar(a) = {n, n, 0, 0}; }
inline void arrive(unsigned a) { jitter(); { std::lock_guard l(m); Barrier& b = bar(a); if (b.count == 0) fail("barrier not initialised"); if (b.pending == 0) { fail("too many arrivals"); return; } --b.pending; settle(b); } cv.notify_all(); }
inline void expect(unsigned a, unsigned bytes) { { std::lock_guard l(m); Barrier& b = bar(a); if (b.pending == 0) { fail("too many arrivals (expect)"); return; } b.tx += bytes; --b.pending; settle(b); } cv.notify_all(); }
inline void complete(unsigned a, long bytes) { { std::lock_guard l(m); Barrier& b = bar(a); b.tx -= bytes; settle(b); } cv.notify_all(); }
inline std::map<std::pair<int,int>, std::array<unsigned,3>> waiting;
inline std::map<std::pair<int,int>, std::array<long,3>> elsewhere;
inline void dump() { std::lock_guard l(m); for (auto& [k, v] : elsewhere) if (v[0]) std::fprintf(stderr, "cta %d thread %d %s %ld %ld\n", k.first, k.second, v[0] == 1 ? "meets" : "looks at", v[1], v[2]); for (auto& c : ctas) if (c->alive > 0 && !c->exited) std::fprintf(stderr, "cta %d alive %d\n", c->number, c->alive);  int n = 0; for (auto& [k, v] : waiting) { if (v[2] == 0 || n++ > 60) continue; Barrier& b = ctas[v[0] >> 20]->barriers[v[0] & 0xfffff]; std::fprintf(stderr, "cta %d thread %d waits for barrier at %u (offset %s %u) parity %u; phase %u pending %u tx %ld\n", k.first, k.second, v[0] >> 20, (v[0] & 0xfffff) < 8192 ? "ring" : "items", (v[0] & 0xfffff) < 8192 ? (v[0] & 0xfffff) / 8 : (v[0] & 0xfffff) - 8192, v[1], b.phase, b.pending, b.tx); } }
struct Mark { std::pair<int,int> k; Mark(unsigned a, unsigned p) : k(cta_->number, static_cast<int>(threadIdx.x)) { waiting[k] = {a, p, 1}; } ~Mark() { waiting[k][2] = 0; } };
inline void wait(unsigned a, unsigned parity) { jitter(); std::unique_lock l(m); Mark mark(a, parity); block(l, [&] { return (bar(a).phase & 1) != (parity & 1); }); }
inline unsigned cluster_rank() { return cta_->cluster == 2 ? blockIdx.x % 2 : 0; }
inline unsigned at_other(unsigned a) { return a ^ (1u << 20); }
inline void meet(Rendezvous& r, int want) { std::unique_lock l(m); struct M { std::pair<int,int> k; M(int w, int h) : k(cta_->number, static_cast<int>(threadIdx.x)) { elsewhere[k] = {1, w, h}; } ~M() { elsewhere[k][0] = 0; } } mark(want, r.here + 1); unsigned g = r.gen; if (++r.here == want) { r.here = 0; ++r.gen; l.unlock(); cv.notify_all(); return; } block(l, [&] { return r.gen != g; }); }
inline void syncthreads() { meet(cta_->meets[0], threads_of_cta); }
inline void syncwarp() { int w = threadIdx.x / 32; if (w < 4) meet(cta_->meets[1 + w], kLanes); }
inline void cluster_barrier() { if (cta_->cluster != 2) { fail("cluster barrier without cluster"); return; } meet(clusters[cta_->number / 2], 2 * threads_of_cta); }
inline std::map<std::pair<Cta*,int>, std::array<int, kLanes>> values;
inline int shfl(int v, int lane) {
  int w = threadIdx.x / 32; int me = threadIdx.x % 32;
  { std::lock_guard l(m); values[{cta_, w}][static_cast<std::size_t>(me)] = v; }
  syncwarp();
  int r; { std::lock_guard l(m); r = values[{cta_, w}][static_cast<std::size_t>(lane < kLanes ? lane : 0)]; }
  syncwarp();
  return r;
}
inline void send(unsigned to, unsigned v, unsigned barrier) { jitter(); { std::lock_guard l(m); std::memcpy(at(to), &v, 4); } complete(barrier, 4); }
inline unsigned atomic_add(unsigned* p, unsigned v) { jitter(); return std::atomic_ref<unsigned>(*p).fetch_add(v); }
inline unsigned atomic_max(unsigned* p, unsigned v) { std::lock_guard l(m); unsigned o = *p; if (v > o) *p = v; return o; }
inline bool has_reached(const unsigned* w, unsigned v) { if (stop) throw Stop{}; jitter(); { std::lock_guard l(m); elsewhere[{cta_->number, static_cast<int>(threadIdx.x)}] = {2, static_cast<long>(reinterpret_cast<unsigned long>(w) & 0xfffff), v}; } bool r = static_cast<int>(std::atomic_ref<unsigned>(*const_cast<unsigned*>(w)).load() - v) >= 0; if (!r) std::this_thread::sleep_for(std::chrono::microseconds(50)); else { ++progress; std::lock_guard l(m); elsewhere[{cta_->number, static_cast<int>(threadIdx.x)}][0] = 0; } return r; }
inline void increment(unsigned* w, unsigned by) { jitter(); std::atomic_ref<unsigned>(*w).fetch_add(by); }
inline void publish(unsigned* w, unsigned v) { std::atomic_ref<unsigned>(*w).store(v); }
inline unsigned seen(const unsigned* w) { return std::atomic_ref<unsigned>(*const_cast<unsigned*>(w)).load(); }
inline bool is_over() { if (stop) throw Stop{}; return false; }
// memory layout of a CTA: 0: barriers; 8 KiB: items; 16 KiB: dynamic
inline unsigned long long* barriers() { return reinterpret_cast<unsigned long long*>(cta_->memory.data()); }
inline char* statics() { return cta_->memory.data() + 8192; }
inline char* dynamic() { return cta_->memory.data() + 16384; }
void load(unsigned to, const void* map, unsigned barrier, int x, int y, int z);
void store(const void* map, unsigned from, int x, int y, int z);
void load_bytes(unsigned to, const char* from, unsigned barrier, unsigned bytes);
void store_bytes(char* to, unsigned from, unsigned bytes);
void write_slab(unsigned slab);
void add(unsigned slab);
void multiply(unsigned long long a, unsigned long long b);
}  // namespace emu
