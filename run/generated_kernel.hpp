#pragma once
// How a generated kernel is launched: what differs between its families (kernels/hopper_gemm.hpp,
// kernels/ampere_gemm.hpp). To add one: a file with a function as those below, and a line in
// generated_gemm.cpp.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "core/error.hpp"
#include "core/tiling.hpp"
#include "kernels/compiler.hpp"

namespace overlaptune::run {

/// Where the tiles of a region store what they fill: element (row 0, column 0) of the region in the
/// first row block, rows and row blocks so many elements apart.
struct GeneratedSegment {
  Region region{};
  int counter = 0;  ///< of its wave group
  void* c = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t block_stride = 0;
};

struct GeneratedOperands {
  const void* a = nullptr;  ///< [block][row][k]
  const void* b = nullptr;  ///< [n][k]
  std::int64_t k = 0;
  std::vector<GeneratedSegment> segments{};  ///< of consecutive tiles, all of them
  // For what is wrong on purpose:
  std::int64_t left_out_k = 0;
  std::int64_t left_out_tiles = 0;  ///< the last ones
};

/// The SMs of a launch, one persistent CTA on each. Once the first `early` tiles are given out,
/// `leaving` of the CTAs end as they have no more, and leave their SMs to somebody else.
struct Crew {
  int sms = 0;
  int leaving = 0;
  std::int64_t early = 0;
  /// Otherwise each tile has a CTA of its own, and whoever is first in line gets the SM of one that
  /// ends.
  bool persistent = true;
};

/// The same, as kernels take it (kernels/device/tiles.cu).
struct Turns {
  unsigned blocks = 0;
  int early = 0;
  int leaving = 0;
};

/// In whole clusters. Throws `Failure` (`bad_input`) where nobody would stay.
[[nodiscard]] Turns turns_of(const Crew& crew, std::int64_t tiles, int cluster);

/// All that one launch takes, made ready.
struct GeneratedLaunch {
  std::vector<std::vector<std::byte>> parameters{};
  unsigned blocks = 0;
  unsigned cluster = 1;  ///< CTAs; where the kernel itself has clusters, 1
};

/// The bytes of all values, one behind the other.
template <class... T>
std::vector<std::byte> packed(std::span<const T>... values) {
  std::vector<std::byte> all((values.size_bytes() + ...));
  std::byte* to = all.data();
  const auto put = [&](std::span<const std::byte> bytes) {
    to = std::copy(bytes.begin(), bytes.end(), to);
  };
  (put(std::as_bytes(values)), ...);
  return all;
}

/// Throws `Failure` where a launch has more segments than its kernel was made for.
inline void check_room(const GeneratedOperands& operands, std::size_t segments) {
  if (operands.segments.size() <= segments) return;
  throw Failure(ErrorKind::bad_input, "a launch of " + std::to_string(operands.segments.size()) +
                                          " segments: expected at most " +
                                          std::to_string(segments));
}

/// A kernel for one tile and up to so many segments, and how its launches are made ready.
class GeneratedKernel {
 public:
  virtual ~GeneratedKernel() = default;
  GeneratedKernel(const GeneratedKernel&) = delete;
  GeneratedKernel& operator=(const GeneratedKernel&) = delete;

  [[nodiscard]] const kernels::KernelSource& source() const { return source_; }
  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] int shared_bytes() const { return shared_bytes_; }
  /// How far a counter goes up with each tile.
  [[nodiscard]] int signals() const { return signals_; }

  [[nodiscard]] virtual GeneratedLaunch prepare(const TileOrder& order, const Crew& crew,
                                                const GeneratedOperands& operands,
                                                std::uint32_t* counters) const = 0;

 protected:
  GeneratedKernel(kernels::KernelSource source, int threads, int shared_bytes, int signals)
      : source_(std::move(source)),
        threads_(threads),
        shared_bytes_(shared_bytes),
        signals_(signals) {}

 private:
  kernels::KernelSource source_;
  int threads_;
  int shared_bytes_;
  int signals_;
};

/// Error (`bad_input`): a tile that this family cannot have.
[[nodiscard]] Expected<std::unique_ptr<GeneratedKernel>> hopper_kernel(const Tile& tile,
                                                                       Dtype dtype, int segments);
[[nodiscard]] Expected<std::unique_ptr<GeneratedKernel>> ampere_kernel(const Tile& tile,
                                                                       Dtype dtype, int segments,
                                                                       int compute_capability);

}  // namespace overlaptune::run
