#pragma once
// Probes (what is measured) and measurements (the result). The model is fitted to measurements and
// to nothing else.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/config/config.hpp"
#include "core/config/fields.hpp"
#include "core/problem.hpp"
#include "core/statistics.hpp"

namespace overlaptune {

/// C (m x n) = A (m x k) * B^T (n x k) on `sms` SMs, alone. With a library tile the GEMM library
/// chooses; otherwise a generated kernel runs the given tile in `TileOrder` with one row block.
struct GemmProbe {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  Elements elements = Elements::bf16;
  Tile tile{};
  int swizzle = 0;
  int sms = 0;  ///< SMs that compute; 0: all
  friend auto operator<=>(const GemmProbe&, const GemmProbe&) = default;
};

/// A collective over `ranks` GPUs whose whole buffer (`collective_bytes`) has `bytes` bytes.
struct CollectiveProbe {
  Collective collective = Collective::all_reduce;
  Bytes bytes{};
  int ranks = 0;
  int comm_ctas = 0;  ///< 0: NCCL chooses; with copy engines, all SMs
  Transport transport = Transport::ring;
  friend auto operator<=>(const CollectiveProbe&, const CollectiveProbe&) = default;
};

inline constexpr std::tuple kCollectiveProbeFields{
    Field{"collective", &CollectiveProbe::collective}, Field{"bytes", &CollectiveProbe::bytes},
    Field{"ranks", &CollectiveProbe::ranks}, Field{"comm_ctas", &CollectiveProbe::comm_ctas},
    Field{"transport", &CollectiveProbe::transport}};

/// A GEMM and a collective at once, each repeated so that the other never runs alone.
/// The GEMM computes on SMs - comm_ctas; with 0 (for generated GEMMs only) it has one CTA for each
/// tile, and the collective gets the SMs of tiles that end.
struct ConcurrentProbe {
  GemmProbe gemm{};
  CollectiveProbe collective{};
  friend auto operator<=>(const ConcurrentProbe&, const ConcurrentProbe&) = default;
};

/// GEMM and collective in turn, again and again, until clock and power have settled. `time` is the
/// time of one round; the purpose is the clock in `Measurement::conditions`.
struct SustainedProbe {
  GemmProbe gemm{};
  CollectiveProbe collective{};
  friend auto operator<=>(const SustainedProbe&, const SustainedProbe&) = default;
};

/// Every rank copies to its neighbour at the same time, by stores of `ctas` CTAs or (0) by a copy
/// engine.
struct CopyProbe {
  Bytes bytes{};
  int ctas = 0;
  friend auto operator<=>(const CopyProbe&, const CopyProbe&) = default;
};

inline constexpr std::tuple kCopyProbeFields{Field{"bytes", &CopyProbe::bytes},
                                             Field{"ctas", &CopyProbe::ctas}};

/// Most GPUs of which pairs are probed: the number of pairs grows with its square.
inline constexpr int kMostPeers = 16;

/// One GPU copies to one other by a copy engine, and the others are idle. `from` and `to` are ranks
/// below `kMostPeers`.
struct PeerProbe {
  Bytes bytes{};
  int from = 0;
  int to = 0;
  friend auto operator<=>(const PeerProbe&, const PeerProbe&) = default;
};

inline constexpr std::tuple kPeerProbeFields{Field{"bytes", &PeerProbe::bytes},
                                             Field{"from", &PeerProbe::from},
                                             Field{"to", &PeerProbe::to}};

/// Costs of starting kernels, collectives and copies.
enum class LaunchCost {
  graph_replay,  ///< from the replay of a captured graph to its first kernel, and back to the event
  graph_kernel,  ///< from the end of a kernel to the start of the next one in the same graph
  eager_submit,  ///< host time to submit one kernel
  eager_first,   ///< from the submission of a kernel on an idle stream to its start
  signal_trigger,             ///< from the last store of a group to the start of its collective
  reorder_per_mb,             ///< copying 10^6 staged bytes into place, on all SMs
  driver_trigger,             ///< `signal_trigger` in a captured graph
  kernel_trigger,             ///< the same where a kernel waits for the signal
  reorder_on_few_sms_per_mb,  ///< `reorder_per_mb` on `kFewSms` SMs, while the others are busy
};

/// About as many SMs as a GEMM leaves to a collective.
inline constexpr int kFewSms = 8;

template <>
struct NamesOf<LaunchCost> {
  static constexpr std::string_view what = "launch cost";
  static constexpr std::array<Named<LaunchCost>, 9> all{
      {{LaunchCost::graph_replay, "graph_replay"},
       {LaunchCost::graph_kernel, "graph_kernel"},
       {LaunchCost::eager_submit, "eager_submit"},
       {LaunchCost::eager_first, "eager_first"},
       {LaunchCost::signal_trigger, "signal_trigger"},
       {LaunchCost::reorder_per_mb, "reorder_per_mb"},
       {LaunchCost::driver_trigger, "driver_trigger"},
       {LaunchCost::kernel_trigger, "kernel_trigger"},
       {LaunchCost::reorder_on_few_sms_per_mb, "reorder_on_few_sms_per_mb"}}};
};

struct LaunchProbe {
  LaunchCost cost = LaunchCost::graph_replay;
  friend auto operator<=>(const LaunchProbe&, const LaunchProbe&) = default;
};

/// The work of an operation of a model's layer that is no GEMM.
enum class LayerWork {
  norm,
  rope,
  activation,
  quantise,
  attention,
  all_reduce,
  all_gather,
  reduce_scatter
};

template <>
struct NamesOf<LayerWork> {
  static constexpr std::string_view what = "work of a layer";
  static constexpr std::array<Named<LayerWork>, 8> all{
      {{LayerWork::norm, "norm"},
       {LayerWork::rope, "rope"},
       {LayerWork::activation, "activation"},
       {LayerWork::quantise, "quantise"},
       {LayerWork::attention, "attention"},
       {LayerWork::all_reduce, "all_reduce"},
       {LayerWork::all_gather, "all_gather"},
       {LayerWork::reduce_scatter, "reduce_scatter"}}};
};

/// Whether GPUs do the work together.
[[nodiscard]] constexpr bool is_collective(LayerWork work) {
  return work >= LayerWork::all_reduce;
}

/// An operation of a forward pass as a framework runs it in a captured graph, again and again:
/// `scripts/compare-step --store` measures it, no `Machine` does. `time` is that of one run, with
/// the gap before its kernel; the launch of the graph is spread over all runs.
struct LayerProbe {
  LayerWork work = LayerWork::norm;
  /// Bytes read and written (norm, rope, activation, quantise), operations (attention) or bytes of
  /// the whole buffer (collectives), as planning/schedules counts them.
  std::int64_t amount = 0;
  int ranks = 1;  ///< of a collective; 1 for other work
  friend auto operator<=>(const LayerProbe&, const LayerProbe&) = default;
};

/// The answer of every `Machine` to a `LayerProbe`.
inline constexpr std::string_view kLayerProbeElsewhere =
    "operations of a layer are measured by PyTorch: expected `scripts/compare-step --store`";

/// Far more than a layer has.
inline constexpr std::int64_t kMostLayerAmount = std::int64_t{1} << 60;

inline constexpr std::tuple kLayerProbeFields{Field{"work", &LayerProbe::work},
                                              Field{"amount", &LayerProbe::amount},
                                              Field{"ranks", &LayerProbe::ranks}};

using Probe = std::variant<GemmProbe, CollectiveProbe, ConcurrentProbe, SustainedProbe, CopyProbe,
                           LaunchProbe, PeerProbe, LayerProbe>;

/// The GEMM of a probe that has one, else null.
[[nodiscard]] const GemmProbe* gemm_of(const Probe& probe);

/// One line that names every field; equal lines mean equal probes.
[[nodiscard]] std::string to_string(const Probe& probe);

/// The state of the GPUs during a measurement. A field is absent where the machine cannot read it.
struct Conditions {
  std::optional<double> sm_clock_mhz;
  std::optional<double> power_w;
  friend bool operator==(const Conditions&, const Conditions&) = default;
};

/// The result of a probe: times of the slowest rank, launch (graph replay) included but for a
/// `LayerProbe`. For a
/// `ConcurrentProbe`, `time` is one GEMM and `collective_time` one collective, each while the other
/// runs; for other probes `collective_time` is absent.
struct Measurement {
  Probe probe{};
  Summary time{};
  std::optional<Summary> collective_time{};
  /// The tile that the GEMM library chose, where the probe gave none; absent where it is not known.
  std::optional<Tile> library_tile{};
  Conditions conditions{};
  friend bool operator==(const Measurement&, const Measurement&) = default;
};

}  // namespace overlaptune
