#pragma once
// How things are timed on all ranks at once: every rank waits for the others, then its own events
// enclose what is timed. The host is ahead of the GPU all the time, so that launching costs nothing
// that a deployed program would not pay, and the GPU is never idle for long, so that its clock is
// that of sustained work.

#include <functional>
#include <optional>
#include <vector>

#include "core/units.hpp"
#include "run/world.hpp"

namespace overlaptune::cuda {

/// Enqueues what is timed. `turn` counts up: for rotating between buffers.
using Task = std::function<void(cudaStream_t stream, int turn)>;

/// Buffer sets of so many bytes each among which to rotate, so that each is cold when its turn
/// comes: at least 2 and together twice the L2 cache, 1 where a single one is as large.
[[nodiscard]] int cold_sets(std::int64_t bytes, std::int64_t l2_bytes);

/// A stream captured into one graph for each buffer set; replayed in turn.
class Replay {
 public:
  /// Captures `submit(stream, set)` for each set.
  Replay(run::World& world, int sets, const Task& submit);
  void operator()(cudaStream_t stream, int turn) const;

 private:
  std::vector<run::GraphExec> graphs_{};
};

/// What was seen of one task.
struct Timed {
  std::vector<Microseconds> times{};     ///< of each repetition on this rank
  std::optional<double> sm_clock_mhz{};  ///< mean while it ran, as the GPU itself counts
};

class Timer {
 public:
  explicit Timer(run::World& world);

  /// The tasks alternate.
  [[nodiscard]] std::vector<Timed> rounds(const std::vector<Task>& tasks, int repetitions);

  /// A few rounds at a time, with as many that are not timed between them as fill `pause`.
  [[nodiscard]] std::vector<Timed> spread_rounds(const std::vector<Task>& tasks, int repetitions,
                                                 Microseconds pause);

  /// One task, until the spread of the slowest rank is under 2 %, `most` repetitions, or the time
  /// is spent. At least `least` repetitions; every rank does the same number.
  [[nodiscard]] Timed until_quiet(const Task& task, int least, int most, Microseconds budget);

  /// Runs them in turn, again and again for about as long, so that clock and power settle.
  void sustain(const std::vector<Task>& tasks, Microseconds duration);

 private:
  struct Slot {
    run::Event start;
    run::Event end;
  };
  void make_slots(std::size_t count);
  /// Each of several tasks gets another set than the one before it, and than itself last time.
  void end_round(std::size_t tasks);

  run::World& world_;
  std::vector<Slot> slots_{};
  run::DeviceMemory stamps_{};
  int turn_ = 0;
};

}  // namespace overlaptune::cuda
