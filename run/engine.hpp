#pragma once
// What all plans of a process share, and what it can run.

#include "core/capabilities.hpp"
#include "run/gemm.hpp"
#include "run/generated_gemm.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

struct Engine {
  World& world;
  GemmLibrary& library;
  GeneratedGemms& generated;
  int sms = 0;  ///< of one GPU

  /// What the world's ranks, the current GPU, its driver and NCCL can run. Whether the GPUs reach
  /// one another's memory is not part of it: that is found out when a plan is made.
  [[nodiscard]] Capabilities capabilities() const;
};

}  // namespace overlaptune::run
