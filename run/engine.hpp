#pragma once
// The parts that all plans of a process share, and the capabilities that follow from them.

#include "core/capabilities.hpp"
#include "run/gemm/gemm.hpp"
#include "run/gemm/generated_gemm.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

struct Engine {
  World& world;
  GemmLibrary& library;
  GeneratedGemms& generated;
  int sms = 0;  ///< SMs of one GPU that plans may use
  /// `WorldOptions::exclusive`: plans start without a gate where they can.
  bool exclusive = false;

  /// The configs that the world's ranks, the current GPU, its driver and NCCL can run. It does not
  /// say whether the GPUs reach one another's memory; `make_plan` finds that out.
  [[nodiscard]] Capabilities capabilities() const;
};

}  // namespace overlaptune::run
