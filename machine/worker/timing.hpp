#pragma once
// Timing on all ranks at once. Every rank waits for the others; then its own events enclose what is
// timed. The host is ahead of the GPU all the time, so that a time has no launch cost which a
// deployed program would not pay. The GPU is never idle for long, so that its clock is that of
// sustained work.

#include <chrono>
#include <functional>
#include <optional>
#include <vector>

#include "core/base/units.hpp"
#include "run/world.hpp"

namespace overlaptune::cuda {

/// Enqueues the work that is timed. `turn` counts up, to rotate between buffers.
using Task = std::function<void(cudaStream_t stream, int turn)>;

/// Number of buffer sets, of `bytes` each, to rotate between, so that each is cold when its turn
/// comes: at least 2, and together twice the L2 cache; 1 if a single one is as large.
[[nodiscard]] int cold_sets(std::int64_t bytes, std::int64_t l2_bytes);

/// Time on the GPU between two events that have happened.
[[nodiscard]] Microseconds between(const run::Event& from, const run::Event& to);

/// One captured graph for each buffer set, replayed in turn.
class Replay {
 public:
  /// Captures `submit(stream, set)` for each set.
  Replay(run::World& world, int sets, const Task& submit);
  void operator()(cudaStream_t stream, int turn) const;

 private:
  std::vector<run::GraphExec> graphs_{};
};

/// The result of one task.
struct Timed {
  std::vector<Microseconds> times{};     ///< time of each repetition, on this rank
  std::optional<double> sm_clock_mhz{};  ///< mean while it ran, by the GPU's own counters
};

/// Work around each timed run. It is enqueued on the world's stream and not timed.
struct Around {
  std::function<void(cudaStream_t stream)> before{};  ///< ahead of the meeting of the ranks
  std::function<void(cudaStream_t stream)> after{};   ///< behind the run
  std::int64_t submission = 0;  ///< upper limit of the host time to enqueue both, in ns
};

class Timer {
 public:
  explicit Timer(run::World& world);

  /// Times `repetitions` rounds; the tasks alternate within a round.
  [[nodiscard]] std::vector<Timed> rounds(const std::vector<Task>& tasks, int repetitions,
                                          const Around& around = {});

  /// Times `repetitions` rounds in batches of a few. Rounds that are not timed fill a `pause`
  /// before each batch.
  [[nodiscard]] std::vector<Timed> spread_rounds(const std::vector<Task>& tasks, int repetitions,
                                                 Microseconds pause);

  /// Times one task until the spread of the slowest rank is under 2 %, `most` repetitions are done,
  /// or `budget` is spent. At least `least` repetitions; every rank does the same number.
  [[nodiscard]] Timed until_quiet(const Task& task, int least, int most, Microseconds budget);

  /// Repeats the tasks in turn for about `duration`, so that clock and power settle.
  void sustain(const std::vector<Task>& tasks, Microseconds duration);

  /// `sustain` for as long as the GPU has not been timed, from `least` to `most`: the longer it has
  /// rested, the farther its clock is from that of sustained work.
  void settle(const std::vector<Task>& tasks, Microseconds least, Microseconds most);

 private:
  struct Slot {
    run::Event start;
    run::Event end;
  };
  void make_slots(std::size_t count);
  /// Shifts the turns by one if there are several tasks, so that a task gets another set than the
  /// task before it, and than in the last round.
  void end_round(std::size_t tasks);

  run::World& world_;
  std::vector<Slot> slots_{};
  run::DeviceMemory stamps_{};
  int turn_ = 0;
  std::chrono::steady_clock::time_point last_round_{};
};

}  // namespace overlaptune::cuda
