#pragma once
// The launch of generated GEMMs, which each family (kernels/hopper_gemm.hpp,
// kernels/ampere_gemm.hpp) makes ready in its own way. To add a family: write a file with a
// function like those at the end of this header, and add a line in generated_gemm.cpp.

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "core/config/comm_ctas.hpp"
#include "core/config/tiling.hpp"
#include "kernels/device/parameters.cuh"
#include "kernels/rank_barrier.hpp"
#include "run/scale_operands.hpp"
#include "strategies/waiting/arrivals.hpp"

namespace overlaptune::run {

/// The memory into which the tiles of a region store: `c` is the address of row 0, column 0 of the
/// region in the first row block. Rows are `row_stride` elements apart, row blocks `block_stride`.
struct GeneratedSegment {
  Region region{};
  int counter = 0;  ///< counter of its wave group
  void* c = nullptr;
  std::int64_t row_stride = 0;
  std::int64_t block_stride = 0;
};

/// The rows of A that a GEMM waits for. Tiles are in the order of `ArrivalOrder`.
struct GeneratedRows {
  /// Consecutive tiles, up to tile `end` (exclusive), whose rows are there when `*counter` is at
  /// least `value`; null: they are there. `sent`: the rows of this rank that the peer needs for its
  /// group of the same number.
  struct Arrival {
    std::int64_t end = 0;
    const std::uint32_t* counter = nullptr;
    std::uint32_t value = 1;
    ArrivingRows sent{};
  };
  /// Rows that the GEMM itself sends, beside its tiles. The counters of its groups are then those
  /// of `GeneratedOperands::barrier`.
  struct Pushes {
    int ctas = 1;  ///< that are to push at any time, while there are rows left; `kTilesPush`: the
                   ///< tiles of the rank's own rows push them, and each row block is one group
    std::vector<void*> gathered{};  ///< every rank's matrix of all row blocks
    bool leaves_out_a_group =
        false;  ///< a plan that is wrong on purpose does not send the last one
  };
  const void* own = nullptr;          ///< this rank's row block, which is not in `a`
  const float* own_scales = nullptr;  ///< its scales, which are not in `GeneratedOperands::scales`
  int own_block = 0;                  ///< its number: the rank
  std::vector<Arrival> arrivals{};
  /// Columns of A that arrive together; 0: all. Each such chunk of a group has a counter, as many
  /// words behind that of the chunk before as there are groups.
  std::int64_t chunk_columns = 0;
  std::optional<Pushes> pushes{};
};

[[nodiscard]] inline bool pushed_by_tiles(const GeneratedRows& rows) {
  return rows.pushes && rows.pushes->ctas == kTilesPush;
}

/// The tiles of a GEMM that stores each at the rank that owns it. Tiles are in the order of
/// `StoreOrder`.
struct GeneratedStores {
  using Group = kernels::device::Group;
  /// Memory of a rank that all ranks reach, by its addresses on this GPU.
  struct Peer {
    void* slots = nullptr;
    /// Row 0 of the rows that this rank's tiles fill, if the rank has C at the begin of the world's
    /// own memory, or of that for results; null where there are none. This rank's own are those of
    /// C itself.
    void* c = nullptr;
    void* result = nullptr;
  };
  int rank = 0;
  bool owns_blocks = true;
  bool own_later = false;
  bool adds = true;               ///< the result is the sum of all ranks
  std::int64_t slots = 0;         ///< of one rank, for each peer
  std::int64_t before_waits = 0;  ///< first tiles that wait for no peer
  std::uint32_t done = 0;  ///< `RankFlags::done` when all tiles of the peers have arrived in C
  /// Places that a peer may have for C, `kernels::device::kPlaceBytes` apart.
  std::int64_t places = 1;
  std::int64_t result_places = 1;
  std::vector<Peer> peers{};
  std::vector<Group> groups{};
};

struct GeneratedOperands {
  const void* a = nullptr;  ///< [block][row][k]
  const void* b = nullptr;  ///< [n][k]
  std::int64_t k = 0;
  ScaleOperands scales{};                    ///< for elements that have some
  std::vector<GeneratedSegment> segments{};  ///< in the order of the tiles; they hold all tiles
  std::optional<GeneratedRows> rows{};       ///< for kernels that wait, and only for them
  std::optional<GeneratedStores> stores{};   ///< for kernels that store at ranks; no segments then
  /// For kernels that wait or store at ranks: the ranks. `has_barrier`: the launch itself has their
  /// barrier; else a gate has, or nobody has to.
  kernels::RankBarrier barrier{};
  bool has_barrier = false;
  // For plans that are wrong on purpose (run/mutant.hpp):
  std::int64_t left_out_k = 0;      ///< last elements of k that are not multiplied
  std::int64_t left_out_tiles = 0;  ///< last tiles that are not computed
};

/// The SMs of a launch, with one persistent CTA on each. After the first `early` tiles, `leaving`
/// of the CTAs end and leave their SMs to the collectives.
struct Crew {
  int sms = 0;
  int leaving = 0;
  std::int64_t early = 0;
  /// If false, each tile has a CTA of its own. An SM whose CTA has ended is free for the next CTA,
  /// of this kernel or of another one.
  bool persistent = true;
};

/// A crew in the form that kernels take (kernels/device/tiles.cuh).
struct Turns {
  unsigned blocks = 0;
  int early = 0;
  int leaving = 0;
};

/// The turns of a crew, in whole clusters. Throws `Failure` (`bad_input`) where no CTA would stay.
[[nodiscard]] Turns turns_of(const Crew& crew, std::int64_t tiles, int cluster);

/// The grid and the parameters of one launch, ready to be enqueued.
struct GeneratedLaunch {
  std::vector<std::vector<std::byte>> parameters{};
  unsigned blocks = 0;
  unsigned cluster = 1;  ///< CTAs of a cluster; 1 where the kernel itself declares its clusters
};

/// A parameter of a kernel: the bytes of a struct of kernels/device/parameters.cuh, or so many of
/// its first ones.
template <class Value>
[[nodiscard]] std::vector<std::byte> parameter(const Value& value,
                                               std::size_t bytes = sizeof(Value)) {
  static_assert(std::is_trivially_copyable_v<Value>);
  const auto all = std::as_bytes(std::span(&value, 1)).first(bytes);
  return {all.begin(), all.end()};
}

/// Calls `make` with the room of a kernel as a constant, `std::integral_constant`: 1, or one of
/// those that `with_room` gives.
template <class Make>
auto with_constant(int room, const Make& make) {
  switch (room) {
    case 1:
      return make(std::integral_constant<int, 1>{});
    case kUsualRegions:
      return make(std::integral_constant<int, kUsualRegions>{});
    case kMostRegions:
      return make(std::integral_constant<int, kMostRegions>{});
    default:
      throw std::invalid_argument("no kernel has this room: expected one of `with_room`");
  }
}

/// Throws `Failure` (`bad_input`) where a launch has more segments or groups than its kernel was
/// made for, or waits or stores at ranks with a kernel that does not, or the other way round.
void check_room(const GeneratedOperands& operands, const TiledKernel& kernel);

/// A kernel for one tile shape and a largest number of segments: it makes launches ready.
class GeneratedKernel {
 public:
  virtual ~GeneratedKernel() = default;
  GeneratedKernel(const GeneratedKernel&) = delete;
  GeneratedKernel& operator=(const GeneratedKernel&) = delete;

  [[nodiscard]] int threads() const { return threads_; }
  [[nodiscard]] int shared_bytes() const { return shared_bytes_; }
  /// The increase of a counter for each tile.
  [[nodiscard]] int signals() const { return signals_; }

  [[nodiscard]] virtual GeneratedLaunch prepare(const TileOrder& order, const Crew& crew,
                                                const GeneratedOperands& operands,
                                                std::uint32_t* counters) const = 0;

 protected:
  GeneratedKernel(int threads, int shared_bytes, int signals)
      : threads_(threads), shared_bytes_(shared_bytes), signals_(signals) {}

 private:
  int threads_;
  int shared_bytes_;
  int signals_;
};

/// The order of a launch; without the CTAs that share a tile, and what they add to a counter.
[[nodiscard]] kernels::device::Order order_of(const TileOrder& order, int blocks,
                                              std::int64_t tiles, std::int64_t k,
                                              const Turns& turns, std::uint32_t* counters);

/// The kernel of each family, which has a source for it (`kernels::job_of`).
[[nodiscard]] std::unique_ptr<GeneratedKernel> hopper_kernel(const TiledKernel& kernel);
[[nodiscard]] std::unique_ptr<GeneratedKernel> ampere_kernel(const TiledKernel& kernel,
                                                             int compute_capability);

}  // namespace overlaptune::run
