#pragma once
// The library GEMM: cuBLASLt, with the algorithm that was measured to be the fastest among the
// proposals of its heuristics.

#include <map>
#include <span>

#include "core/config/config.hpp"
#include "core/problem.hpp"
#include "run/plan.hpp"
#include "run/world.hpp"

namespace overlaptune::run {

/// Value of `GemmShape::sms`: the GEMM may use all SMs.
inline constexpr int kAllSms = 0;

/// C = A * B^T, row-major: A is m x k, B is n x k, C is m x n. The products of a batch share B;
/// their matrices A and C have m rows each and begin `stride_a` and `stride_c` elements apart.
struct GemmShape {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Elements elements = Elements::bf16;
  int batch = 1;
  std::int64_t stride_a = 0;
  std::int64_t stride_c = 0;
  std::int64_t row_stride = 0;  ///< elements from one row of A or B to the next; 0: k
  int sms = 0;                  ///< SMs that the GEMM may use, or `kAllSms`
  friend auto operator<=>(const GemmShape&, const GemmShape&) = default;
};

struct GemmOperands {
  const void* a = nullptr;
  const void* b = nullptr;
  void* c = nullptr;
  ScaleOperands scales{};  ///< of a batch: those of its first A, `stride_a` / k apart
};

/// Least alignment of operands, in bytes.
inline constexpr std::uint32_t kLeastAlignment = 16;

/// The alignment in bytes that all operands and their rows have, 256 at most.
[[nodiscard]] std::uint32_t common_alignment(const GemmShape& shape,
                                             std::span<const GemmOperands> operands);

struct GemmChoice {
  cublasLtMatmulAlgo_t algorithm{};
  std::uint32_t alignment = 0;  ///< of the operands, which the algorithm relies on
  /// For operands of less alignment, but `kLeastAlignment`. It is not measured.
  cublasLtMatmulAlgo_t less_aligned{};
  Tile tile{};  ///< the tile that the library names; all zero where it names none
};

/// cuBLASLt's handle and workspace, and the choices made so far. GEMMs of one `GemmLibrary` run on
/// one stream at a time, because they share the workspace.
class GemmLibrary {
 public:
  explicit GemmLibrary(World& world);

  /// Collective: chooses an algorithm, the same on every rank. Up to 32 proposals of the library's
  /// heuristics run twice each, then the best eight run three times; the one with the shortest time
  /// on its slowest rank is taken. Its first proposal for less aligned operands is kept, too. For a
  /// shape with an SM budget, the other SMs are occupied meanwhile. The runs alternate between the
  /// `operands` and overwrite them. Error (`bad_input`): the library has no algorithm that runs.
  /// Throws `Failure` on every rank where one fails.
  [[nodiscard]] Expected<GemmChoice> choose(const GemmShape& shape,
                                            std::span<const GemmOperands> operands);

  /// The choice that was made for the shape, or for the one nearest to it in rows whose algorithm
  /// the library allows for this one too. It asks no other rank and runs nothing. Shapes differ in
  /// `m` and in strides only. Error (`bad_input`): there is none.
  [[nodiscard]] Expected<GemmChoice> nearest(const GemmShape& shape) const;

  /// Enqueues the GEMM: no allocation, no synchronization. The operands are aligned to
  /// `kLeastAlignment`.
  void enqueue(cudaStream_t stream, const GemmShape& shape, const GemmChoice& choice,
               const GemmOperands& operands) const;

 private:
  struct Descriptors;
  /// Valid until the next call: of ever new shapes, only the latest are kept.
  [[nodiscard]] const Descriptors& descriptors(const GemmShape& shape) const;
  [[nodiscard]] bool allows(const GemmShape& shape, const cublasLtMatmulAlgo_t& algorithm) const;
  [[nodiscard]] cublasStatus_t multiply(cudaStream_t stream, const GemmShape& shape,
                                        const cublasLtMatmulAlgo_t& algorithm,
                                        const GemmOperands& operands) const;
  [[nodiscard]] const float* aligned_scales(cudaStream_t stream, const GemmShape& shape,
                                            const float* scales) const;
  [[nodiscard]] cublasStatus_t multiply_each(cudaStream_t stream, const GemmShape& batch,
                                             const cublasLtMatmulAlgo_t& algorithm,
                                             const GemmOperands& operands) const;
  [[nodiscard]] std::vector<cublasLtMatmulAlgo_t> proposals(const GemmShape& shape,
                                                            std::uint32_t alignment) const;
  [[nodiscard]] Expected<cublasLtMatmulAlgo_t> unmeasured(const GemmShape& shape,
                                                          std::uint32_t alignment,
                                                          const GemmOperands& operands) const;
  [[nodiscard]] std::vector<double> times(const GemmShape& shape,
                                          std::span<const cublasLtMatmulAlgo_t> algorithms,
                                          std::span<const GemmOperands> operands, int rounds);
  void time_here(const GemmShape& shape, std::span<const cublasLtMatmulAlgo_t> algorithms,
                 std::span<const GemmOperands> operands, int rounds, std::span<double> best);

  World* world_;
  int sms_ = 0;
  int compute_capability_ = 0;
  Handle<cublasLtHandle_t, &cublasLtDestroy> handle_;
  DeviceMemory workspace_;
  mutable std::map<GemmShape, std::shared_ptr<Descriptors>> descriptors_{};
  std::map<GemmShape, GemmChoice> choices_{};
};

}  // namespace overlaptune::run
