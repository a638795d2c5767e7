#pragma once
// A cluster: the levels of its network from the GPU outwards, with the figures of data sheets and
// the shares of them that a library reaches. Times are microseconds, rates bytes per microsecond.

#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/error.hpp"
#include "core/base/names.hpp"

namespace overlaptune::cluster {

/// How the members of a level are joined. The members of level 0 are GPUs, those of another level
/// are whole groups of the level below.
enum class LevelKind {
  switched,   ///< all links of a member reach every other one
  ring,       ///< each member has a link to the next one, in both directions
  torus,      ///< a ring in each of k dimensions
  pcie,       ///< a tree of PCIe switches; what all GPUs send may share its root
  rails,      ///< network cards of each member, all behind switches
  full_mesh,  ///< no switch: each pair has links of its own, the same share of a member's
};

/// A library's way to move bytes over a link (NCCL: LL, LL128, Simple).
struct Protocol {
  std::string name{};
  double start_us = 0;  ///< once for a collective
  double extra_us = 0;  ///< of each step, beyond the latency of the link
  double share = 1;     ///< of the link's rate that carries data
};

/// A value by the bytes that one GPU sends, ascending: straight lines over the logarithm of the
/// bytes, constant outside the points.
using ByBytes = std::vector<std::pair<double, double>>;
[[nodiscard]] double value_at(const ByBytes& points, double bytes);

/// Reduction and broadcast within the switch (NVLink SHARP).
struct Multicast {
  double share = 0;       ///< of the rate that is reached otherwise; 0: the switch cannot do it
  double latency_us = 0;  ///< of a whole all-reduce
};

struct Level {
  std::string name{};
  LevelKind kind = LevelKind::switched;
  std::vector<int> sizes{};  ///< most members; for a torus, of each dimension
  /// Links of one member; of a ring or torus, links to one neighbour.
  int links = 1;
  double gb_per_s = 0;         ///< of one link in one direction, by the data sheet
  double latency_us = 0;       ///< of one step
  ByBytes efficiency{{1, 1}};  ///< of the links' rate that is reached
  /// The part of longer rings' rate that rings of two reach, by the name of the operation.
  std::map<std::string, ByBytes, std::less<>> pairs{};
  std::vector<Protocol> protocols{{"plain", 0, 0, 1}};
  Multicast multicast{};
  double root_gb_per_s = 0;  ///< pcie: what all members together send at most; 0: no such limit
  int wrap_from = 2;         ///< torus: a dimension of fewer members is a line, not a ring
};

struct Cluster {
  std::string name{};
  std::string description{};
  std::string gpu{};     ///< a word in the name of its GPUs: "H100"; empty: not said
  double launch_us = 0;  ///< of a collective's kernel
  /// Time of the host to submit a collective to one GPU, where a thread submits to all GPUs of a
  /// node in turn; 0: not known.
  double submit_us = 0;
  double tflops = 0;  ///< of one GPU, dense bf16, by the data sheet; 0: not given
  /// Sentences for the user: what was assumed.
  std::vector<std::string> notes{};
  std::string network{};  ///< the shipped cluster whose levels follow; empty: none
  std::vector<Level> levels{};
};

/// The part of a level that the GPUs of a question use.
struct Slice {
  const Level* level = nullptr;
  std::vector<int> sizes{};
  int size = 1;   ///< members: the product of `sizes`
  int inner = 1;  ///< GPUs of one member
};

/// Fills the levels from the innermost one. A level is used in part only if it is the last one. The
/// slices refer to the cluster. Error: the GPUs do not fill whole groups, or are too many; names
/// both and what would do.
[[nodiscard]] Expected<std::vector<Slice>> slices_of(const Cluster& cluster, int gpus);
Expected<std::vector<Slice>> slices_of(Cluster&& cluster, int gpus) = delete;  ///< would be gone

/// All GPUs of the cluster; the largest number where they are more.
[[nodiscard]] std::int64_t most_gpus(const Cluster& cluster);

/// The rate of one GPU into the level, in bytes per microsecond, if all of `slice` send and each
/// sends `bytes`. Members share the links of their group.
[[nodiscard]] double gpu_rate(const Slice& slice, double bytes);

}  // namespace overlaptune::cluster

namespace overlaptune {

template <>
struct NamesOf<cluster::LevelKind> {
  static constexpr std::string_view what = "kind";
  static constexpr std::array<Named<cluster::LevelKind>, 6> all{
      {{cluster::LevelKind::switched, "switch"},
       {cluster::LevelKind::ring, "ring"},
       {cluster::LevelKind::torus, "torus"},
       {cluster::LevelKind::pcie, "pcie"},
       {cluster::LevelKind::rails, "rails"},
       {cluster::LevelKind::full_mesh, "full_mesh"}}};
};

}  // namespace overlaptune
