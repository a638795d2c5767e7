#pragma once
// The workbench: communicators, libraries and memory that all work of a worker uses.

#include <optional>
#include <string>

#include "core/base/error.hpp"
#include "machine/worker/timing.hpp"
#include "run/engine.hpp"
#include "run/host/nvml.hpp"

namespace overlaptune::cuda {

struct Workbench {
  run::World world;
  run::GemmLibrary library;
  run::GeneratedGemms generated{};
  Timer timer;
  run::Stream aside = run::make_stream(run::Priority::high);  ///< while the world's stream waits
  const run::Nvml& nvml;
  int sms = 0;
  std::int64_t l2_bytes = 0;
  Microseconds replay{};  ///< time of an empty kernel's graph, part of every replay's time

  Workbench(const ncclUniqueId& id, int rank, int ranks, bool allow_multicast,
            const run::Nvml& gpu);

  [[nodiscard]] run::Engine engine() { return {world, library, generated, sms}; }
  /// Conditions of what was timed just now. The clock is that of `timed` if it has one; all else is
  /// from the driver.
  [[nodiscard]] Conditions conditions(const Timed& timed) const;
  [[nodiscard]] int cold_sets(std::int64_t bytes) const { return cuda::cold_sets(bytes, l2_bytes); }
};

/// Calls `allocate()` on all ranks, which go on or none: the others would wait for it. Collective.
/// Returns the memory that this rank lacks, an empty text if another one does; none if all have it.
template <class Allocate>
[[nodiscard]] std::optional<std::string> lacking(run::World& world, Allocate&& allocate) {
  std::string lacks;
  try {
    allocate();
  } catch (const Failure& failure) {
    if (failure.kind() != ErrorKind::out_of_memory) throw;
    lacks = failure.what();
  }
  return world.largest(lacks.empty() ? 0 : 1) > 0 ? std::optional(lacks) : std::nullopt;
}

/// Hands out parts of `World::memory`, the same ones on every rank, each aligned to 4 KiB.
class Bump {
 public:
  explicit Bump(std::byte* base = nullptr) : base_(base) {}
  [[nodiscard]] void* take(std::int64_t bytes) {
    constexpr std::size_t kAlign = 4096;
    void* part = base_ == nullptr ? nullptr : base_ + used_;
    used_ += (static_cast<std::size_t>(bytes) + kAlign - 1) / kAlign * kAlign;
    return part;
  }
  /// Scales of a GEMM of so many rows and columns.
  [[nodiscard]] run::ScaleOperands take_scales(Elements elements, std::int64_t m, std::int64_t n) {
    if (!is_scaled(elements)) return {};
    constexpr auto kBytes = static_cast<std::int64_t>(sizeof(float));
    const void* const a = take(scale_count(elements, m) * kBytes);
    const void* const b = take(scale_count(elements, n) * kBytes);
    return {static_cast<const float*>(a), static_cast<const float*>(b)};
  }
  [[nodiscard]] std::size_t used() const { return used_; }

 private:
  std::byte* base_;
  std::size_t used_ = 0;
};

/// Calls `layout(Bump&)` twice: once to count bytes, once to place buffers. `beside`: bytes that
/// the caller is going to allocate itself.
template <class Layout>
[[nodiscard]] Expected<void> placed(run::World& world, Layout&& layout, std::size_t beside = 0) {
  Bump counted;
  layout(counted);
  if (auto reserved = world.reserve(counted.used(), beside); !reserved) return reserved;
  Bump real(world.memory());
  layout(real);
  return {};
}

}  // namespace overlaptune::cuda
