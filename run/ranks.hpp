#pragma once
// The ranks of another program's communicator, and the parts that all plans on it share.

#include <mutex>

#include "run/engine.hpp"
#include "run/streams/captured_graphs.hpp"
#include "run/waits/watchdog.hpp"

namespace overlaptune::run {

/// Makes a GPU the current one for the length of a call.
class OnDevice {
 public:
  explicit OnDevice(int device);
  ~OnDevice();
  OnDevice(const OnDevice&) = delete;
  OnDevice& operator=(const OnDevice&) = delete;

 private:
  int before_ = 0;
  bool changed_ = false;
};

struct Ranks {
  /// Collective. The communicator's GPU must be the current one. Throws `Failure` on every rank if
  /// one fails, or gives other options than the others.
  Ranks(ncclComm_t comm, const WorldOptions& options, World::Scratch scratch);
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] Engine engine() {
    const WorldOptions& options = world.options();
    return {world, library, generated, sms - options.free_sms, options.exclusive};
  }

  /// Ends the communicators of a world that has ended. A call holds `calls`.
  void abandon(std::chrono::milliseconds limit = World::kEnd) noexcept {
    world.abandon(graphs.known() > 0, limit);
  }
  /// Whether graphs that may still be replayed hold the parts of a world that has ended: its memory
  /// and its plans stay then, until the process ends.
  [[nodiscard]] bool is_held_after_its_end() const {
    return world.failure().has_value() && graphs.known() > 0;
  }
  /// Ends the communicators from a thread that is no call; false where a call goes on.
  bool abandon_from_aside();

  int device;
  int sms;
  World world;
  GemmLibrary library;
  GeneratedGemms generated{};
  CapturedGraphs graphs{};   ///< graphs that hold plans on these ranks
  LastRun last_run{};        ///< of the plans on these ranks
  std::timed_mutex calls{};  ///< held by a call that uses the ranks
  Watchdog watchdog;         ///< last: it uses all the others
};

/// Collective: the captures of plans that CUDA graphs of any rank hold, `here` of them on this one,
/// in words: "2 captures on rank 0, 1 on rank 3". Empty: none.
[[nodiscard]] std::string held_captures(Ranks& ranks, int here);
[[nodiscard]] std::string captures_in_words(std::span<const std::uint64_t> by_rank);

/// The first difference of the options of two ranks, by the names of the C interface; empty: none.
[[nodiscard]] std::string difference(const WorldOptions& mine, const WorldOptions& theirs);

}  // namespace overlaptune::run
