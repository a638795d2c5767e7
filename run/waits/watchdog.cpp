#include "run/waits/watchdog.hpp"

#include <fmt/format.h>

namespace overlaptune::run {

Watchdog::Watchdog(Watched watched, std::function<bool()> abandon)
    : watched_(std::move(watched)), abandon_(std::move(abandon)) {
  // All ranks live now. One that seems not to is hidden from this process.
  for (Rank& rank : watched_.ranks) {
    if (has_ended(rank.process)) rank = {};
  }
  thread_ = std::thread([this] { watch(); });
}

Watchdog::~Watchdog() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  stopped_.notify_all();
  thread_.join();
  tell_others();  // the thread may not have seen an end that came just now
}

/// Tells the other ranks why this one has ended the world, if they do not know.
void Watchdog::tell_others() {
  const World& world = watched_.world;
  if (was_told_ || world.is_closed() || world.waits().was_told()) return;
  if (const auto failure = world.failure()) watched_.own.say(*failure);
}

/// False where the thread is to end.
bool Watchdog::sleep() {
  constexpr std::chrono::milliseconds kPause{200};
  std::unique_lock lock(mutex_);
  return !stopped_.wait_for(lock, kPause, [this] { return stops_; });
}

void Watchdog::watch() {
  // Elsewhere in the process a stream may be captured in a mode that forbids other threads to ask
  // for events.
  cudaStreamCaptureMode mode = cudaStreamCaptureModeRelaxed;
  static_cast<void>(cudaThreadExchangeStreamCaptureMode(&mode));
  static_cast<void>(cudaSetDevice(watched_.device));
  while (sleep()) {
    if (!watched_.world.failure()) look();
    tell_others();
    if (watched_.world.failure() && abandon_()) return;
  }
}

/// The reason why a rank cannot come any more; absent where it may.
std::optional<std::string> Watchdog::end_of(std::size_t rank) const {
  const auto& [process, words] = watched_.ranks[rank];
  if (const auto heard = words.heard()) {
    return fmt::format("rank {} has ended this world: {}", rank, *heard);
  }
  if (!has_ended(process)) return std::nullopt;
  return fmt::format(
      "the process of rank {} ({}) has ended, and with it this world: make another one", rank,
      process.pid);
}

void Watchdog::look() {
  World& world = watched_.world;
  for (std::size_t rank = 0; rank < watched_.ranks.size(); ++rank) {
    if (static_cast<int>(rank) == world.rank()) continue;
    if (auto reason = end_of(rank)) {
      was_told_ = true;
      return world.end(std::move(*reason));
    }
  }
  const auto run = watched_.last_run.under_way();
  if (!run) {
    run_ = 0;
    return;
  }
  const auto now = std::chrono::steady_clock::now();
  if (*run != run_) {
    run_ = *run;
    begun_ = now;
    return;
  }
  if (now - begun_ < world.options().time_limit) return;
  const double limit = std::chrono::duration<double>(world.options().time_limit).count();
  world.end(fmt::format(
      "a rank did not come within {:.3g} s to a plan that waits for it on the GPU; this "
      "world has ended: make another one",
      limit));
}

}  // namespace overlaptune::run
