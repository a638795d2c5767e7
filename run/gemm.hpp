#pragma once
// The library's GEMM: cuBLASLt with an algorithm that was measured to be the fastest of its
// heuristics' proposals.

#include <map>
#include <span>

#include "core/config.hpp"
#include "core/problem.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// `GemmShape::sms`: no part of them is left to anything else.
inline constexpr int kAllSms = 0;

/// C = A * B^T, row-major: A is m x k, B is n x k, C is m x n. A batch shares B: its matrices A and
/// C follow one another at the given distances (elements), m rows each.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Dtype dtype = Dtype::bf16;
  int batch = 1;
  std::int64_t stride_a = 0;
  std::int64_t stride_c = 0;
  std::int64_t row_stride = 0;  ///< elements from one row of A or B to the next; 0: k
  int sms = 0;                  ///< SMs that it may use; or `kAllSms`
  friend auto operator<=>(const GemmShape&, const GemmShape&) = default;
};

struct GemmOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
};

struct GemmChoice {
  cublasLtMatmulAlgo_t algorithm{};
  Tile tile{};    ///< as the library names it; all zero where it does not tell
  int tried = 0;  ///< algorithms that were measured
};

/// cuBLASLt's handle and workspace, and the choices made so far. GEMMs of one library run on one
/// stream at a time: they share the workspace.
class GemmLibrary {
 public:
  explicit GemmLibrary(World& world);

  /// Collective: every rank takes the same algorithm, the one whose slowest rank is fastest among
  /// up to 32 proposals (two products each, then three of the best eight); with an SM budget, while
  /// the other SMs are occupied. `operands` are alternated between, and overwritten. Error:
  /// `bad_input` where the library has no algorithm.
  [[nodiscard]] Expected<GemmChoice> choose(const GemmShape& shape,
                                            std::span<const GemmOperands> operands);

  /// Enqueues it; no allocation, no synchronization.
  void enqueue(cudaStream_t stream, const GemmShape& shape, const GemmChoice& choice,
               const GemmOperands& operands) const;

 private:
  struct Descriptors;
  [[nodiscard]] const Descriptors& descriptors(const GemmShape& shape) const;
  [[nodiscard]] cublasStatus_t multiply(cudaStream_t stream, const GemmShape& shape,
                                        const cublasLtMatmulAlgo_t& algorithm,
                                        const GemmOperands& operands) const;
  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> proposals(
      const GemmShape& shape, std::span<const GemmOperands> operands) const;
  [[nodiscard]] std::vector<double> times(const GemmShape& shape,
                                          std::span<const cublasLtMatmulAlgo_t> algorithms,
                                          std::span<const GemmOperands> operands, int rounds);

  World* world_;
  int sms_ = 0;
  int compute_capability_ = 0;
  Handle<cublasLtHandle_t, &cublasLtDestroy> handle_;
  DeviceMemory workspace_;
  mutable std::map<GemmShape, std::shared_ptr<Descriptors>> descriptors_{};
  std::map<GemmShape, GemmChoice> choices_{};
};

}  // namespace overlaptune::run
