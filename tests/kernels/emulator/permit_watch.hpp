#pragma once
// Whether the storing warps of an emulated launch keep the rules of
// strategies/peer_store/permits.cuh: each sends with a permit of its own, and never more send at
// once than there are permits.

#include <map>
#include <vector>

#include "kernels/device/flags.cuh"
#include "tests/kernels/emulator/run.hpp"

namespace emulator {

class PermitWatch {
 public:
  using Flags = std::vector<overlaptune::kernels::device::RankFlags>;

  /// `flags` of all ranks, whose CTAs have numbers from `ctas` times the rank on.
  PermitWatch(const Flags& flags, int ctas, int permits)
      : flags_(flags), ctas_(ctas), permits_(permits) {}

  /// Watches from now on, and notes faults with the machine.
  void watch() {
    sending_.clear();
    on_store_bytes = [this] { note_sent(); };  // into a slot of another rank
    on_add = [this](const unsigned* word) {
      for (const auto& each : flags_) {
        if (word == &each.permits_taken) note_asked();
        if (word == &each.permits_returned) note_returned();
      }
    };
  }

  /// The running thread stores at another rank.
  void note_sent() {
    if (own.number == kNone) machine->fail("a store at another rank without a permit");
    if (own.number == kAsked && ++sending_[rank()] > permits_ && !waits_end_) {
      machine->fail("more send than there are permits");
    }
    own.number = kSends;
  }

  /// The world will end: a wait that ends counts as one that has got its permit.
  void expect_waits_to_end() { waits_end_ = true; }

 private:
  /// A storing warp has nothing, a place in the row for a permit, or a permit that it has used.
  enum Permit { kNone, kAsked, kSends };

  [[nodiscard]] int rank() const { return static_cast<int>(own.cta->number) / ctas_; }
  void note_asked() const {
    if (own.number != kNone) machine->fail("a second permit");
    own.number = kAsked;
  }
  void note_returned() {
    if (own.number == kNone) machine->fail("a permit that nobody has is returned");
    if (own.number == kSends) --sending_[rank()];
    own.number = kNone;
  }

  const Flags& flags_;
  int ctas_;
  int permits_;
  bool waits_end_ = false;
  std::map<int, int> sending_{};  ///< storing warps of each rank that send
};

}  // namespace emulator
