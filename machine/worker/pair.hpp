#pragma once
// A GEMM, the library's or a generated one, and a collective, ready to be run beside each other or
// in turn.

#include "machine/worker/probes/probes.hpp"

namespace overlaptune::cuda {

class Pair {
 public:
  /// Collective; fills the operands. `crew` is for the GEMM. A GEMM of the library takes only its
  /// SMs (0: all).
  [[nodiscard]] static Expected<Pair> make(Workbench& bench, const GemmProbe& gemm,
                                           const run::Crew& crew,
                                           const CollectiveProbe& collective);

  void enqueue_gemm(Workbench& bench, cudaStream_t stream) const;
  void enqueue_collective(Workbench& bench, cudaStream_t stream) const;

 private:
  Collective collective_{};
  run::CommKey route_{};
  run::GemmShape shape_{};
  run::GemmChoice choice_{};
  const run::GeneratedGemm* generated_ = nullptr;  ///< null: the GEMM is the library's
  run::GeneratedLaunch generated_launch_{};
  run::DeviceMemory counter_{};  ///< counter for the signals of the generated GEMM
  run::GemmOperands operands_{};
  CollectiveBuffers buffers_{};
  std::int64_t count_ = 0;
};

}  // namespace overlaptune::cuda
