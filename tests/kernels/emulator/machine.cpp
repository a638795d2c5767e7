#include "tests/kernels/emulator/machine.hpp"

#include <memory>

namespace emulator {
namespace {

/// Nothing takes as many pauses where all goes well.
constexpr long kStuck = 10'000'000;

}  // namespace

Machine::Machine(int ctas, int consumers, unsigned seed)
    : threads_of_cta_(kWarps * kLanes + kOfConsumer * consumers), threads_(seed) {
  threads_.stuck = [this] { fail("all threads wait for ever"); };
  for (int i = 0; i < ctas; ++i) {
    ctas_.push_back(std::make_unique<Cta>());
    ctas_.back()->number = static_cast<unsigned>(i);
    ctas_.back()->memory.resize(kMemory);
  }
}

void Machine::at_different_times(int count, const std::function<void(int)>& work) {
  for (int i = 0; i < count; ++i) {
    const int late = 1 << threads_.random() % 12;
    threads_.begin([this, &work, i, late] {
      for (int pause = 0; pause < late; ++pause) threads_.pause();
      work(i);
    });
  }
  threads_.run();
}

void Machine::launch(int first, int ctas, int cluster, int room,
                     const std::function<void()>& kernel) {
  struct Grid {
    std::function<void()> kernel;
    int next = 0;  // the first CTA of the cluster that begins next
    int left;      // CTAs that have not ended
    Threads::Waiting waiting{};
  };
  const auto grid = std::make_shared<Grid>(Grid{.kernel = kernel, .left = ctas});
  const auto begin_cluster = [=, this](const auto& again) -> void {
    if (grid->next >= ctas) return;
    const int number = grid->next;
    grid->next += cluster;
    const auto running = std::make_shared<int>(cluster * threads_of_cta_);
    clusters_[static_cast<unsigned>(first + number) / 2] = {};
    for (int i = number; i < number + cluster; ++i) {
      Cta& cta = *ctas_[static_cast<std::size_t>(first + i)];
      cta.cluster = cluster;
      cta.running = threads_of_cta_;
      cta.barriers.clear();
      cta.loaded.clear();
      cta.stores.clear();
      cta.all = {};
      cta.warps = {};
      cta.consumers = {};
      for (int thread = 0; thread < threads_of_cta_; ++thread) {
        threads_.begin([=, &cta, this] {
          constexpr int kInWarps = kWarps * kLanes;
          const int of_consumers = thread - kInWarps;
          own.cta = &cta;
          own.thread_idx.x =
              static_cast<unsigned>(thread < kInWarps ? thread / kLanes * 32 + thread % kLanes
                                                      : 128 * (of_consumers / kOfConsumer + 1) +
                                                            of_consumers % kOfConsumer);
          own.block_idx.x = static_cast<unsigned>(i);
          own.grid_dim.x = static_cast<unsigned>(ctas);
          grid->kernel();
          --cta.running;
          if (--*running > 0) return;
          grid->left -= cluster;
          if (grid->left <= 0) threads_.wake(grid->waiting);
          again(again);
        });
      }
    }
  };
  for (int i = 0; i < room; ++i) begin_cluster(begin_cluster);
  while (grid->left > 0) threads_.wait(grid->waiting);
}

void Machine::fail(const std::string& what) {
  constexpr std::size_t kEnough = 2000;
  if (faults_.size() < kEnough) {
    faults_ += "CTA " + std::to_string(own.cta == nullptr ? 0 : own.cta->number) + ", thread " +
               std::to_string(own.thread_idx.x) + ": " + what + "\n";
  }
  threads_.stop();
}

Mbarrier& Machine::barrier_at(unsigned address) {
  Cta& owner = *ctas_[address / kMemory];
  if (owner.running == 0) fail("uses a barrier of a CTA that has ended");
  return owner.barriers[address % kMemory];
}

void Machine::settle(Mbarrier& barrier) {
  if (barrier.pending != 0 || barrier.bytes != 0) return;
  barrier.pending = barrier.count;
  ++barrier.phase;
  threads_.wake(barrier.waiting);
}

void Machine::init(unsigned barrier, unsigned count) {
  const unsigned arrivals = count == 128 ? kOfConsumer : count;
  barrier_at(barrier) = {.count = arrivals, .pending = arrivals};
}

void Machine::arrive(unsigned barrier) {
  expect(barrier, 0);
}

void Machine::expect(unsigned barrier, unsigned bytes) {
  jitter();
  Mbarrier& each = barrier_at(barrier);
  if (each.pending == 0) return fail("more arrivals at a barrier than it counts");
  each.bytes += bytes;
  --each.pending;
  settle(each);
}

void Machine::complete(unsigned barrier, unsigned bytes) {
  Mbarrier& each = barrier_at(barrier);
  each.bytes -= bytes;
  settle(each);
}

void Machine::wait(unsigned barrier, unsigned phase) {
  jitter();
  for (;;) {
    Mbarrier& each = barrier_at(barrier);
    if (each.phase % 2 != phase % 2) break;
    threads_.wait(each.waiting);
  }
  went_on();
}

void Machine::meet(Meeting& meeting, int threads) {
  if (++meeting.here == threads) {
    meeting.here = 0;
    ++meeting.turn;
    threads_.wake(meeting.waiting);
    return;
  }
  const unsigned turn = meeting.turn;
  while (meeting.turn == turn) threads_.wait(meeting.waiting);
  went_on();
}

void Machine::meet_in_warp() {
  if (const unsigned warp = own.thread_idx.x / 32; warp < kWarps)
    meet(own.cta->warps.at(warp), kLanes);
}

void Machine::meet_in_consumer() {
  meet(own.cta->consumers.at(own.thread_idx.x / 128 - 1), kOfConsumer);
}

void Machine::meet_in_cluster() {
  if (own.cta->cluster != 2) return fail("a barrier of a cluster that is none");
  meet(clusters_[own.cta->number / 2], 2 * threads_of_cta_);
}

int Machine::from_lane(int value, int lane) {
  const std::size_t warp = own.thread_idx.x / 32;
  auto& values = own.cta->values.at(warp);
  values.at(own.thread_idx.x % 32) = value;
  meet_in_warp();
  const int theirs = values.at(static_cast<std::size_t>(lane));
  meet_in_warp();
  return theirs;
}

void Machine::note_load(unsigned address, const Tag& tag) {
  ctas_[address / kMemory]->loaded[address % kMemory] = tag;
}

Tag Machine::loaded_at(unsigned address) {
  return ctas_[address / kMemory]->loaded[address % kMemory];
}

void Machine::jitter() {
  if (++pauses_ > kStuck) {
    went_on();
    fail("nothing goes on");
  }
  threads_.pause();
}

}  // namespace emulator
