#include "tests/kernels/emulator/machine.hpp"

#include <chrono>
#include <semaphore>
#include <thread>

namespace emulator {
namespace {

using Clock = std::chrono::steady_clock;

/// Nothing takes as long as this where all goes well, also on a busy host.
constexpr auto kStuck = std::chrono::seconds(20);

}  // namespace

Machine::Machine(int ctas, int consumers) : threads_(kWarps * kLanes + kOfConsumer * consumers) {
  for (int i = 0; i < ctas; ++i) {
    ctas_.push_back(std::make_unique<Cta>());
    ctas_.back()->number = static_cast<unsigned>(i);
    ctas_.back()->memory.resize(kMemory);
  }
}

void Machine::launch(int first, int ctas, int cluster, int room,
                     const std::function<void()>& kernel) {
  std::counting_semaphore<> free(room);
  const auto run_thread = [&](int number, int thread) {
    cta = ctas_[static_cast<std::size_t>(first + number)].get();
    multiplied = {};
    random_number.seed(std::random_device{}());
    is_slow = random_number() % 32 == 0;
    const int in_warps = kWarps * kLanes;
    const int of_consumers = thread - in_warps;
    thread_idx.x = static_cast<unsigned>(
        thread < in_warps ? thread / kLanes * 32 + thread % kLanes
                          : 128 * (of_consumers / kOfConsumer + 1) + of_consumers % kOfConsumer);
    block_idx.x = static_cast<unsigned>(number);
    grid_dim.x = static_cast<unsigned>(ctas);
    try {
      kernel();
    } catch (const Stopped&) {  // `faults` says why
    }
    const std::lock_guard lock(mutex_);
    --cta->running;
  };
  const auto run_cluster = [&](int number) {
    free.acquire();
    {
      const std::lock_guard lock(mutex_);
      for (int i = 0; i < cluster; ++i) {
        Cta& each = *ctas_[static_cast<std::size_t>(first + number + i)];
        each.cluster = cluster;
        each.running = threads_;
        each.barriers.clear();
        each.loaded.clear();
        each.all = {};
        each.warps = {};
        each.consumers = {};
      }
      clusters_[static_cast<unsigned>(first + number) / 2] = {};
    }
    {
      std::vector<std::jthread> threads;
      for (int i = 0; i < cluster; ++i) {
        for (int t = 0; t < threads_; ++t) threads.emplace_back(run_thread, number + i, t);
      }
    }
    free.release();
  };
  std::vector<std::jthread> clusters;
  for (int number = 0; number < ctas; number += cluster) clusters.emplace_back(run_cluster, number);
}

void Machine::fail(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    note(what);
  }
  changed_.notify_all();
}

void Machine::note(const std::string& fault) {
  constexpr std::size_t kEnough = 2000;
  if (faults_.size() < kEnough) {
    faults_ += "CTA " + std::to_string(cta == nullptr ? 0 : cta->number) + ", thread " +
               std::to_string(thread_idx.x) + ": " + fault + "\n";
  }
  stopped_ = true;
}

std::string Machine::faults() {
  const std::lock_guard lock(mutex_);
  return faults_;
}

Mbarrier& Machine::barrier_at(unsigned address) {
  Cta& owner = *ctas_[address / kMemory];
  if (owner.running == 0) note("uses a barrier of a CTA that has ended");
  return owner.barriers[address % kMemory];
}

void Machine::settle(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  barrier.pending = barrier.count;
  ++barrier.phase;
}

template <class Done>
void Machine::block(std::unique_lock<std::mutex>& lock, const Done& done, const char* what) {
  long seen = progress_;
  auto since = Clock::now();
  while (!done()) {
    if (stopped_) throw Stopped{};
    changed_.wait_for(lock, std::chrono::milliseconds(20));
    if (const long now = progress_; now != seen) {
      seen = now;
      since = Clock::now();
    } else if (Clock::now() - since > kStuck) {
      lock.unlock();
      fail(std::string("waits for ever: ") + what);
      throw Stopped{};
    }
  }
  went_on();
}

void Machine::init(unsigned barrier, unsigned count) {
  const unsigned arrivals = count == 128 ? kOfConsumer : count;
  const std::lock_guard lock(mutex_);
  barrier_at(barrier) = {.count = arrivals, .pending = arrivals};
}

void Machine::arrive(unsigned barrier) {
  expect(barrier, 0);
}

void Machine::expect(unsigned barrier, unsigned bytes) {
  jitter();
  bool right = false;
  {
    const std::lock_guard lock(mutex_);
    Mbarrier& each = barrier_at(barrier);
    right = each.pending > 0;
    if (right) {
      each.bytes += bytes;
      --each.pending;
      settle(each);
    }
  }
  if (!right) fail("more arrivals at a barrier than it counts");
  changed_.notify_all();
}

void Machine::complete(unsigned barrier, unsigned bytes) {
  {
    const std::lock_guard lock(mutex_);
    Mbarrier& each = barrier_at(barrier);
    each.bytes -= bytes;
    settle(each);
  }
  changed_.notify_all();
}

void Machine::wait(unsigned barrier, unsigned phase) {
  jitter();
  std::unique_lock lock(mutex_);
  block(
      lock, [&] { return barrier_at(barrier).phase % 2 != phase % 2; }, "an mbarrier");
}

void Machine::meet(Meeting& meeting, int threads) {
  std::unique_lock lock(mutex_);
  const unsigned turn = meeting.turn;
  if (++meeting.here == threads) {
    meeting.here = 0;
    ++meeting.turn;
    lock.unlock();
    changed_.notify_all();
    return;
  }
  block(
      lock, [&] { return meeting.turn != turn; }, "a barrier of threads");
}

void Machine::meet_in_warp() {
  if (const unsigned warp = thread_idx.x / 32; warp < kWarps) meet(cta->warps.at(warp), kLanes);
}

void Machine::meet_in_consumer() {
  meet(cta->consumers.at(thread_idx.x / 128 - 1), kOfConsumer);
}

void Machine::meet_in_cluster() {
  if (cta->cluster != 2) return fail("a barrier of a cluster that is none");
  Meeting* meeting = nullptr;
  {
    const std::lock_guard lock(mutex_);
    meeting = &clusters_[cta->number / 2];
  }
  meet(*meeting, 2 * threads_);
}

int Machine::from_lane(int value, int lane) {
  const std::size_t warp = thread_idx.x / 32;
  auto& values = cta->values.at(warp);
  values.at(thread_idx.x % 32) = value;
  meet_in_warp();
  const int theirs = values.at(static_cast<std::size_t>(lane));
  meet_in_warp();
  return theirs;
}

void Machine::note_load(unsigned address, const Tag& tag) {
  const std::lock_guard lock(mutex_);
  ctas_[address / kMemory]->loaded[address % kMemory] = tag;
}

Tag Machine::loaded_at(unsigned address) {
  const std::lock_guard lock(mutex_);
  return ctas_[address / kMemory]->loaded[address % kMemory];
}

void Machine::look_again() {
  if (stopped_) throw Stopped{};
  std::this_thread::sleep_for(std::chrono::microseconds(50));
}

void Machine::jitter() {
  if (stopped_) throw Stopped{};
  const auto draw = random_number() % 64;
  if (is_slow || draw == 0) {
    const unsigned most = is_slow ? 2000 : 200;
    std::this_thread::sleep_for(std::chrono::microseconds(random_number() % most));
  } else if (draw < 8) {
    std::this_thread::yield();
  }
}

void at_different_times(int count, const std::function<void(int)>& work) {
  std::mt19937 random(std::random_device{}());
  std::vector<std::jthread> threads;
  for (int i = 0; i < count; ++i) {
    const std::chrono::milliseconds late(random() % 20);
    threads.emplace_back([&work, i, late] {
      std::this_thread::sleep_for(late);
      work(i);
    });
  }
}

}  // namespace emulator
