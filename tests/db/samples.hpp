#pragma once
// Random values of everything that a database holds, and a place to keep one.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <unistd.h>

#include <fmt/format.h>

#include "core/config/config_fields.hpp"
#include "core/config/strategies.hpp"
#include "core/config/tiling.hpp"
#include "db/store.hpp"

namespace overlaptune::samples {

inline std::string read_bytes(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

inline void write_bytes(const std::filesystem::path& file, const std::string& bytes) {
  std::ofstream(file, std::ios::binary | std::ios::trunc) << bytes;
}

/// The swizzle of a config; 0 where its strategy has none.
inline int swizzle_of(const Config& config) {
  int swizzle = 0;
  with_field<config_field::Swizzle>(config, [&](const auto& value) { swizzle = value; });
  return swizzle;
}

/// Draws values; the same seed gives the same ones.
class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(random_);
  }
  int small(int low, int high) { return static_cast<int>(between(low, high)); }
  bool coin() { return between(0, 1) == 1; }
  /// Positive, of any magnitude, with all bits of the mantissa in use.
  double real() { return std::exp2(std::uniform_real_distribution<>(-40, 40)(random_)); }
  template <class E>
  E any() {
    const auto& all = NamesOf<E>::all;
    return all[static_cast<std::size_t>(between(0, static_cast<std::int64_t>(all.size()) - 1))]
        .value;
  }
  std::string text() {
    static const char* const kPieces[] = {"NCCL", " 2.28", "'",  "\"", "\n",
                                          "µs",   "%s",    "\\", ";--"};
    std::string made;
    for (std::int64_t i = between(0, 6); i > 0; --i) made += kPieces[between(0, 8)];
    return made;
  }

  Summary summary() {
    const double median = real();
    return {us(median), us(median * 0.9), us(median * 1.25), small(1, 99)};
  }
  Conditions conditions() {
    Conditions made;
    if (coin()) made.sm_clock_mhz = real();
    if (coin()) made.power_w = real();
    return made;
  }
  Platform platform() {
    return {.machine = coin() ? "sim" : "cuda",
            .name = fmt::format("name-{}", between(0, 1'000'000)),
            .gpu_model = text(),
            .gpu_count = small(1, 8),
            .sms = small(1, 200),
            .compute_capability = small(80, 120),
            .memory = Bytes{between(1, std::int64_t{1} << 40)},
            .driver_version = text(),
            .cuda_version = text(),
            .nccl_version = text(),
            .topology = text(),
            .link = text(),
            .multicast_allowed = coin(),
            .details = text()};
  }
  Provenance provenance() {
    return {.program_version = text(),
            .host = text(),
            .command_line = text(),
            .seed = (static_cast<std::uint64_t>(between(0, INT64_MAX)) << 1) | 1,
            .started_at = fmt::format("2026-01-{:02}T00:00:00.000Z", between(1, 28))};
  }
  Problem problem() {
    Problem made;
    made.op = any<Op>();
    made.ranks = small(2, 16);
    made.m = made.ranks * 4 * between(1, 1024);  // scales of rows travel four at a time
    const std::int64_t n = between(1, 8192);
    const std::int64_t k = between(1, 8192);
    made.elements = any<Elements>();
    made.n = n * n_multiple(made.elements);
    made.k = k * k_multiple(made.elements);
    return made;
  }
  LayerGemm layer_gemm() {
    return {.model = "model-" + text(),
            .product = any<Product>(),
            .parallelism = any<Parallelism>(),
            .tokens = between(1, 1 << 20),
            .times_per_pass = between(1, 200),
            .problem = problem()};
  }
  Tile tile() { return {64 * small(1, 4), 8 * small(1, 32), 64, small(2, 8), small(1, 2)}; }
  /// A legal config, of any strategy, transport and wait.
  Config config() {
    const auto nccls = [&] { return coin() ? Transport::ring : Transport::symmetric; };
    switch (any<Strategy>()) {
      case strategy_of<Sequential>():
        return Sequential{.comm_ctas = small(0, 32), .transport = nccls()};
      case strategy_of<Chunked>():
        return Chunked{.comm_ctas = small(1, 32), .chunks = small(1, 16), .transport = nccls()};
      case strategy_of<Signaled>():
        break;
      case strategy_of<Waiting>(): {
        Waiting made{.tile = tile(), .swizzle = small(1, 16)};
        for (std::int64_t i = between(1, 4); i > 0; --i) {
          made.wave_groups.push_back(between(1, 5000));
        }
        return made;
      }
      case strategy_of<PeerStore>(): {
        PeerStore made{.tile = tile(), .swizzle = small(1, 16)};
        for (std::int64_t i = between(1, 4); i > 0; --i) {
          made.wave_groups.push_back(between(1, 5000));
        }
        return made;
      }
    }
    Signaled made{.tile = tile(), .swizzle = small(1, 16), .transport = any<GroupTransports>()};
    made.comm_ctas = small(is_nccls(made.transport.beside_gemm) ? 0 : 1, 32);
    if (made.transport.beside_gemm != Transport::copy_engine) made.wait = any<Wait>();
    for (std::int64_t i = between(1, 4); i > 0; --i) made.wave_groups.push_back(between(1, 5000));
    return made;
  }
  /// A legal config of a problem: its chunks or wave groups make up the whole.
  Config config(const Problem& problem) {
    Config made = config();
    while (!traits_of(strategy_of(made)).ops.contains(problem.op)) made = config();
    if (auto* chunked = std::get_if<Chunked>(&made)) {
      const std::int64_t rows = problem.m / row_blocks(problem);
      chunked->chunks = static_cast<int>(std::min<std::int64_t>(chunked->chunks, rows));
    }
    if (auto* signaled = std::get_if<Signaled>(&made)) cut(problem, *signaled);
    if (auto* waiting = std::get_if<Waiting>(&made)) {
      const std::int64_t tiles = tile_order(problem, waiting->tile, waiting->swizzle).tiles();
      waiting->wave_groups.assign(static_cast<std::size_t>(problem.ranks), tiles / problem.ranks);
    }
    if (auto* stored = std::get_if<PeerStore>(&made)) {
      stored->wave_groups = {tile_order(problem, stored->tile, stored->swizzle).tiles()};
    }
    return made;
  }
  Candidate candidate() {
    Candidate made;
    made.problem = problem();
    made.launch = any<Launch>();
    made.config = config();
    made.origin = any<Origin>();
    if (coin()) made.rank_by_model = small(0, 300);
    made.predicted = us(real());
    made.verdict = any<Verdict>();
    made.reason = text();
    if (coin()) made.measured = summary();
    if (coin()) {
      const double median = real();
      made.speedup = Candidate::Speedup{median, median * 0.9, median * 1.25};
    }
    made.conditions = conditions();
    return made;
  }
  PhaseResult phase_result() {
    PhaseResult made;
    made.problem = problem();
    made.launch = any<Launch>();
    made.config = config();
    made.phase = any<RunPhase>();
    made.verdict = any<Verdict>();
    made.reason = text();
    if (coin()) made.measured = summary();
    if (coin()) made.sequential = us(real());
    if (made.verdict == Verdict::valid && made.measured && made.sequential) {
      const double median = real();
      made.speedup = PhaseResult::Speedup{median, median * 0.9, median * 1.25};
    }
    made.conditions = conditions();
    return made;
  }
  Winner winner() {
    Winner made;
    made.candidate = candidate();
    made.candidate.config = config(made.candidate.problem);
    made.candidate.verdict = Verdict::valid;
    made.candidate.measured = summary();
    made.sequential = us(real());
    made.gemm_alone = us(real());
    made.collective_alone = us(real());
    if (coin()) made.overlap_fraction = std::uniform_real_distribution<>(0, 1)(random_);
    return made;
  }
  Probe probe() {
    const GemmProbe gemm{between(1, 9999), between(1, 9999),         between(1, 9999),
                         any<Elements>(),  coin() ? tile() : Tile{}, small(0, 8),
                         small(0, 132)};
    CollectiveProbe collective{any<Collective>(), Bytes{between(1, std::int64_t{1} << 33)},
                               small(2, 16), small(0, 32), any<Transport>()};
    switch (between(0, 7)) {
      case 0:
        return gemm;
      case 1:
        return collective;
      case 2:
        // Beside a library GEMM, a collective gets no SMs except those that the GEMM is kept from.
        collective.comm_ctas += gemm.tile.is_library() ? 1 : 0;
        return ConcurrentProbe{gemm, collective};
      case 3:
        return SustainedProbe{gemm, collective};
      case 4:
        return CopyProbe{Bytes{between(1, std::int64_t{1} << 33)}, small(0, 32)};
      case 5: {
        const int from = small(0, 15);
        return PeerProbe{Bytes{between(1, std::int64_t{1} << 33)}, from,
                         (from + small(1, 15)) % 16};
      }
      case 6: {
        const auto work = any<LayerWork>();
        return LayerProbe{work, between(1, kMostLayerAmount),
                          is_collective(work) ? small(2, 16) : 1};
      }
      default:
        return LaunchProbe{any<LaunchCost>()};
    }
  }
  Measurement measurement() {
    Measurement made;
    made.probe = probe();
    made.time = summary();
    if (std::holds_alternative<ConcurrentProbe>(made.probe)) made.collective_time = summary();
    const bool of_layer = std::holds_alternative<LayerProbe>(made.probe);
    if (coin() && !of_layer)
      made.library_tile = Tile{small(1, 256), small(1, 256), 64, small(1, 8), 2};
    made.conditions = conditions();
    return made;
  }

 private:
  /// Some wave groups: whole swizzle groups for copy engines, whole columns for the others.
  void cut(const Problem& problem, Signaled& signaled) {
    const TileOrder order = tile_order(problem, signaled.tile, signaled.swizzle);
    const bool by_rows = signaled.transport.beside_gemm == Transport::copy_engine;
    std::vector<std::int64_t>& groups = signaled.wave_groups;
    groups.clear();
    std::int64_t end = 0;
    for (std::int64_t i = between(0, 4); i > 0; --i) {
      Cut next = cut_at(order, between(1, order.tiles()));
      if (by_rows) {
        const std::int64_t swizzle_group = order.column_tiles(0) * order.columns();
        next = cut_at(order, next.tiles / swizzle_group * swizzle_group);
      }
      if (next.tiles <= end) continue;
      groups.push_back(next.tiles - end);
      end = next.tiles;
    }
    if (end < order.tiles()) groups.push_back(order.tiles() - end);
  }

  std::mt19937_64 random_;
};

/// One of many configs that differ only in their number.
inline Config numbered_config(int number) {
  return Chunked{.comm_ctas = 8, .chunks = number};
}
inline int number_of(const Config& config) {
  return std::get<Chunked>(config).chunks;
}

/// Adds platforms, runs, measurements, candidates and winners: a bit of everything.
inline void fill(Store& store, std::uint64_t seed, int rows) {
  Generator draw(seed);
  Generator draw_workload(seed + 1000);
  Generator draw_phases(seed + 2000);
  for (int p = 0; p < 2; ++p) {
    const auto platform = store.add_platform(draw.platform());
    const auto probing = store.begin_probe_run(platform, draw.provenance());
    for (int i = 0; i < rows; ++i) store.add_measurement(probing, draw.measurement());
    store.finish_probe_run(probing);
    const auto tuning = store.begin_tuning_run(platform, draw.text(), draw.provenance());
    std::vector<LayerGemm> gemms;
    for (int i = 0; i < rows / 8; ++i) gemms.push_back(draw_workload.layer_gemm());
    store.add_layer_gemms(tuning, gemms);
    std::vector<PhaseResult> phases;
    for (int i = 0; i < rows / 8; ++i) phases.push_back(draw_phases.phase_result());
    store.add_phase_results(tuning, phases);
    for (int i = 0; i < rows; ++i) store.add_candidate(tuning, draw.candidate());
    for (int i = 0; i < rows / 4; ++i) store.put_winner(tuning, draw.winner());
    if (p == 0) store.finish_tuning_run(tuning);
  }
}

/// Everything that the public interface gives of a database, to be compared.
struct Content {
  std::vector<Platform> platforms;
  std::vector<std::vector<Measurement>> measurements;
  std::vector<std::vector<LayerGemm>> layer_gemms;
  std::vector<std::vector<PhaseResult>> phase_results;  ///< of the last runs
  std::vector<Candidate> candidates;
  std::vector<Winner> winners;
  std::vector<std::string> validated_at;
  std::vector<std::string> requests;
  friend bool operator==(const Content&, const Content&) = default;
};

inline Content content(const Store& store) {
  Content all;
  for (const auto& [id, platform] : store.platforms()) {
    all.platforms.push_back(platform);
    all.measurements.push_back(store.measurements(id));
    all.layer_gemms.push_back(store.layer_gemms(id));
    if (const auto run = store.last_tuning_run(id)) {
      all.requests.push_back(run->request + run->provenance.command_line +
                             std::to_string(run->provenance.seed) + (run->finished ? "f" : ""));
      all.phase_results.push_back(store.phase_results(run->id));
    }
  }
  for (const auto& stored : store.all_candidates()) all.candidates.push_back(stored.candidate);
  for (const auto& stored : store.winners()) {
    all.winners.push_back(stored.winner);
    all.validated_at.push_back(stored.validated_at);
  }
  return all;
}

}  // namespace overlaptune::samples
