#include "tests/kernels/emulator/threads.hpp"

#include <cstddef>
#include <utility>

#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

namespace emulator {
namespace {

/// A stack, as AddressSanitizer wants to be told of it at each change of stacks: where it does not
/// know the one in use, an exception leaves the marks of the frames that it ended.
struct Stack {
  const void* lowest = nullptr;
  std::size_t bytes = 0;
};

/// Called before the change.
void leave_for([[maybe_unused]] const Stack& next, [[maybe_unused]] void** frames = nullptr) {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(frames, next.lowest, next.bytes);
#endif
}

/// Called after it. Returns the stack that was left.
Stack arrive([[maybe_unused]] void* frames = nullptr) {
  Stack left;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(frames, &left.lowest, &left.bytes);
#endif
  return left;
}

constexpr std::size_t kStackBytes = 256 << 10;
/// One of so many threads is far behind the others, and goes on one of so many times that it is
/// drawn.
constexpr unsigned kSlow = 32;

}  // namespace

struct Threads::Thread {
  std::unique_ptr<char[]> stack = std::make_unique_for_overwrite<char[]>(kStackBytes);
  ucontext_t context{};
  std::function<void()> work;
  Own own;
  bool is_slow = false;
  bool waits = false;

  [[nodiscard]] Stack whole_stack() const { return {stack.get(), kStackBytes}; }
};

namespace {
Threads* entered = nullptr;  // `makecontext` passes no pointers
Stack caller_stack;
}  // namespace

Threads::Threads(unsigned seed) : random_(seed) {}
Threads::~Threads() = default;

void Threads::begin(std::function<void()> work) {
  if (ended_.empty()) {
    ended_.push_back(all_.emplace_back(std::make_unique<Thread>()).get());
  }
  Thread& thread = *ended_.back();
  ended_.pop_back();
  thread.work = std::move(work);
  thread.own = {};
  thread.is_slow = random_() % kSlow == 0;
  getcontext(&thread.context);
  thread.context.uc_stack.ss_sp = thread.stack.get();
  thread.context.uc_stack.ss_size = kStackBytes;
  makecontext(&thread.context, &Threads::enter, 0);
  ready_.push_back(&thread);
  ++alive_;
}

void Threads::run() {
  stopped_ = false;
  if (ready_.empty()) return;
  entered = this;
  running_ = &drawn();
  caller_stack = {};
  void* frames = nullptr;
  leave_for(running_->whole_stack(), &frames);
  swapcontext(&caller_, &running_->context);
  arrive(frames);
  running_ = nullptr;
}

void Threads::enter() {
  const Stack left = arrive();
  if (caller_stack.lowest == nullptr) caller_stack = left;  // the first comes from `run`
  Threads& threads = *entered;
  Thread& self = *threads.running_;
  own = self.own;
  try {
    self.work();
  } catch (const Stopped&) {  // `stop` was called
  }
  self.work = nullptr;
  threads.ended_.push_back(&self);
  if (--threads.alive_ == 0) {
    leave_for(caller_stack);
    setcontext(&threads.caller_);
  }
  threads.running_ = &threads.drawn();
  leave_for(threads.running_->whole_stack());
  setcontext(&threads.running_->context);
}

Threads::Thread& Threads::drawn() {
  if (ready_.empty()) {  // all that are alive wait
    stuck();
    stop();
  }
  for (;;) {
    Thread*& place = ready_[random_() % ready_.size()];
    Thread* const thread = place;
    if (thread->is_slow && random_() % kSlow != 0) continue;
    place = ready_.back();
    ready_.pop_back();
    return *thread;
  }
}

void Threads::go_on_with(Thread& next) {
  Thread& self = *running_;
  self.own = own;
  running_ = &next;
  if (&next != &self) {
    void* frames = nullptr;
    leave_for(next.whole_stack(), &frames);
    swapcontext(&self.context, &next.context);
    arrive(frames);
  }
  own = self.own;
  if (stopped_) throw Stopped{};
}

void Threads::pause() {
  if (stopped_) throw Stopped{};
  ready_.push_back(running_);
  go_on_with(drawn());
}

void Threads::wait(Waiting& waiting) {
  if (stopped_) throw Stopped{};
  running_->waits = true;
  waiting.push_back(running_);
  go_on_with(drawn());
}

void Threads::wake(Waiting& waiting) {
  for (Thread* thread : waiting) {
    if (std::exchange(thread->waits, false)) ready_.push_back(thread);
  }
  waiting.clear();
}

void Threads::stop() {
  stopped_ = true;
  for (const auto& thread : all_) {
    if (std::exchange(thread->waits, false)) ready_.push_back(thread.get());
  }
}

}  // namespace emulator
