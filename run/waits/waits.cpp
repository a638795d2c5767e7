#include "run/waits/waits.hpp"

#include <algorithm>
#include <limits>

#include <fmt/format.h>

#include "run/check.hpp"

namespace overlaptune::run {
namespace {

using kernels::Awaited;
using kernels::WaitControl;

/// The unit of the kernels' times.
constexpr double kUnitSeconds = static_cast<double>(1 << 20) / 1e9;

std::uint32_t in_units(std::chrono::milliseconds limit) {
  const double units = std::chrono::duration<double>(limit).count() / kUnitSeconds;
  constexpr double kMostUnits = std::numeric_limits<std::int32_t>::max();
  return static_cast<std::uint32_t>(std::clamp(units, 1.0, kMostUnits));
}

std::string awaited(std::uint32_t what, std::uint32_t index) {
  switch (static_cast<Awaited>(what)) {
    case Awaited::ready:
      return fmt::format("rank {} did not come", index);
    case Awaited::counter:
      return fmt::format("what the peers send for wave group {} did not come", index);
    case Awaited::flag:
      return fmt::format("a copy of rank {} did not come", index);
    case Awaited::permit:
      return "tiles that this rank sends did not leave";
    default:
      return "the peers' last tiles did not come";
  }
}

}  // namespace

Waits::Waits(std::chrono::milliseconds limit) {
  void* memory = nullptr;
  OVT_CHECK(cudaHostAlloc(&memory, sizeof(WaitControl), cudaHostAllocMapped));
  memory_ = Handle<void*, &cudaFreeHost>(memory);
  control_ = static_cast<WaitControl*>(memory);
  void* on_gpu = nullptr;
  OVT_CHECK(cudaHostGetDevicePointer(&on_gpu, memory, 0));
  on_gpu_ = static_cast<WaitControl*>(on_gpu);
  control_->limit = in_units(limit);
  revive();
}

int Waits::number_of(std::string text) {
  const std::lock_guard lock(mutex_);
  plans_.push_back(std::move(text));
  return static_cast<int>(plans_.size()) - 1;
}

void Waits::abort() {
  if (control_->ended != 0) return;
  control_->what = static_cast<std::uint32_t>(Awaited::aborted);
  std::atomic_thread_fence(std::memory_order_release);
  control_->ended = 1;
}

std::optional<std::string> Waits::failure() const {
  if (control_->ended == 0) return std::nullopt;
  std::atomic_thread_fence(std::memory_order_acquire);
  const std::uint32_t what = control_->what;
  if (what == static_cast<std::uint32_t>(Awaited::aborted)) {
    return "the world was aborted: make another one";
  }
  if (what == static_cast<std::uint32_t>(Awaited::told)) {
    return "another rank waited too long, so this world has ended (a rank did not come: see the "
           "other ranks' errors): make another one";
  }
  const std::lock_guard lock(mutex_);
  const auto plan = std::min<std::size_t>(control_->plan, plans_.size() - 1);
  if (what == static_cast<std::uint32_t>(Awaited::differs)) {
    return fmt::format(
        "rank {} came to another plan, or with other rows, than this rank, which came to {}; "
        "expected the same plans with the same rows in the same order on all ranks; this world "
        "has ended: make another one",
        std::uint32_t{control_->index}, plans_[plan]);
  }
  return fmt::format(
      "{} within {:.3g} s, which {} waited for; this world has ended: make another one",
      awaited(what, control_->index), control_->waited * kUnitSeconds, plans_[plan]);
}

bool Waits::was_told() const {
  if (control_->ended == 0) return false;
  std::atomic_thread_fence(std::memory_order_acquire);
  return control_->what == static_cast<std::uint32_t>(Awaited::told);
}

void Waits::revive() {
  control_->ended = 0;
  control_->plan = 0;
  control_->what = 0;
  control_->index = 0;
  control_->waited = 0;
}

}  // namespace overlaptune::run
