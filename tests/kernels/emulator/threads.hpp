#pragma once
// Threads that take turns on one thread of the host. Who goes on is drawn at each call that pauses,
// so that a seed gives the same run again, and a thousand threads cost no more than their own work.

#include <functional>
#include <memory>
#include <random>
#include <ucontext.h>
#include <vector>

namespace emulator {

struct Cta;

struct Dim {
  unsigned x = 0;
};

/// Content of a stage or a subtile: the place of a tile, and a step of k.
struct Tag {
  int block = -1;
  int row = -1;
  int column = -1;
  int step = -1;
  friend bool operator==(const Tag&, const Tag&) = default;
};

/// The variables that each thread has of its own.
struct Own {
  Dim thread_idx;
  Dim block_idx;
  Dim grid_dim;
  Cta* cta = nullptr;
  Tag multiplied;  // by a consumer: its tile, up to which step
  int number = 0;  // for a test
};
/// Those of the thread that runs.
inline Own own;

/// Ends a thread of a run that has failed.
struct Stopped {};

class Threads {
 public:
  struct Thread;
  /// Those that wait for the same thing.
  using Waiting = std::vector<Thread*>;

  explicit Threads(unsigned seed);
  ~Threads();
  Threads(const Threads&) = delete;
  Threads& operator=(const Threads&) = delete;

  /// Begins a thread. A thread that runs may begin others.
  void begin(std::function<void()> work);
  /// Returns when all have ended.
  void run();

  /// Lets others go on, or not. Throws `Stopped` where the run has failed.
  void pause();
  /// Waits until `wake`. Where no thread could go on then, `stuck` is called.
  void wait(Waiting& waiting);
  void wake(Waiting& waiting);

  /// Every thread ends where it pauses or waits next.
  void stop();
  [[nodiscard]] unsigned random() { return static_cast<unsigned>(random_()); }

  std::function<void()> stuck = [] {};

 private:
  static void enter();
  Thread& drawn();
  void go_on_with(Thread& next);

  std::mt19937 random_;
  std::vector<std::unique_ptr<Thread>> all_;
  std::vector<Thread*> ready_;  // without the one that runs
  std::vector<Thread*> ended_;  // whose stacks others may take
  Thread* running_ = nullptr;
  ucontext_t caller_{};
  int alive_ = 0;
  bool stopped_ = false;
};

}  // namespace emulator
