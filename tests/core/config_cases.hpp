#pragma once
// Configs from one end of the rules to the other, legal and illegal, for every part of the program
// that judges configs.

#include <algorithm>
#include <array>
#include <limits>
#include <utility>
#include <vector>

#include "core/config/config.hpp"
#include "core/config/tiling.hpp"
#include "core/problem.hpp"

namespace overlaptune::cases {

/// A strategy with a transport, the fewest CTAs that it needs, whether a kernel may wait, and the
/// most CTAs that it takes. The legal combinations are written out one by one; all others are
/// illegal.
struct Way {
  Strategy strategy;
  GroupTransports transport;
  int fewest_ctas;
  bool kernel_may_wait;
  int most_ctas = 65535;
};
inline constexpr std::array<Way, 14> kWays{{
    {strategy_of<Sequential>(), {Transport::ring, Transport::ring}, 0, false},
    {strategy_of<Sequential>(), {Transport::symmetric, Transport::symmetric}, 0, false},
    {strategy_of<Sequential>(), {Transport::copy_engine, Transport::copy_engine}, 0, false, 0},
    {strategy_of<Sequential>(), {Transport::peer_access, Transport::peer_access}, 1, false},
    {strategy_of<Chunked>(), {Transport::ring, Transport::ring}, 1, false},
    {strategy_of<Chunked>(), {Transport::symmetric, Transport::symmetric}, 1, false},
    {strategy_of<Signaled>(), {Transport::ring, Transport::ring}, 0, true},
    {strategy_of<Signaled>(), {Transport::symmetric, Transport::symmetric}, 0, true},
    {strategy_of<Signaled>(), {Transport::symmetric, Transport::ring}, 0, true},
    {strategy_of<Signaled>(), {Transport::copy_engine, Transport::copy_engine}, 1, false},
    {strategy_of<Signaled>(), {Transport::peer_access, Transport::peer_access}, 1, true},
    {strategy_of<Waiting>(), {Transport::copy_engine, Transport::copy_engine}, 0, false, 0},
    {strategy_of<Waiting>(), {Transport::peer_access, Transport::peer_access}, 1, false},
    {strategy_of<PeerStore>(), {Transport::peer_access, Transport::peer_access}, 0, false, 0},
}};

/// The value of a field, and whether the field may have it at all.
template <class T>
struct Edge {
  T value;
  bool is_in_range;
};

struct Case {
  Config config;
  bool is_legal;  ///< by itself, whatever the problem and the machine
};

namespace detail {

inline constexpr int kLeastInt = std::numeric_limits<int>::min();
inline constexpr int kMostInt = std::numeric_limits<int>::max();
inline constexpr std::int64_t kMostInt64 = std::numeric_limits<std::int64_t>::max();

inline constexpr Edge<int> kCtas[] = {{kLeastInt, false}, {-1, false},      {0, true},
                                      {1, true},          {16, true},       {65535, true},
                                      {65536, false},     {kMostInt, false}};
inline constexpr Edge<int> kChunks[] = {{kLeastInt, false}, {-1, false}, {0, false},
                                        {1, true},          {2, true},   {1 << 30, true},
                                        {kMostInt, false}};
inline constexpr Edge<int> kSides[] = {{kLeastInt, false}, {-128, false}, {0, false},
                                       {1, true},          {65536, true}, {65537, false},
                                       {kMostInt, false}};
inline constexpr Edge<int> kStages[] = {
    {-1, false}, {0, false}, {1, true}, {64, true}, {65, false}};
inline constexpr Edge<int> kClusters[] = {
    {-1, false}, {0, false}, {1, true}, {2, true}, {3, false}};
inline constexpr Edge<int> kSwizzles[] = {
    {-1, false}, {0, false}, {1, true}, {1 << 30, true}, {(1 << 30) + 1, false}};
/// The numbers from here on stand for no transport and no wait.
inline constexpr int kTransports = 5;
inline constexpr int kWaits = 3;

inline const Way* way_of(Strategy strategy, GroupTransports transport) {
  for (const Way& way : kWays) {
    if (way.strategy == strategy && way.transport == transport) return &way;
  }
  return nullptr;
}

inline std::vector<Edge<std::vector<std::int64_t>>> wave_groups() {
  const std::int64_t half = std::int64_t{1} << 61;
  return {{{}, false},
          {{1}, true},
          {{928, 96}, true},
          {std::vector<std::int64_t>(500, 3), true},
          {{half, half}, true},
          {{half, half, 1}, false},
          {{1, 0}, false},
          {{-1}, false},
          {{8, -4, 8}, false},
          {{kMostInt64}, false},
          {{kMostInt64, kMostInt64}, false}};
}

inline void add_library_cases(std::vector<Case>& cases) {
  for (int t = 0; t < kTransports; ++t) {
    const auto transport = static_cast<Transport>(t);
    for (const Strategy strategy : {strategy_of<Sequential>(), strategy_of<Chunked>()}) {
      const Way* const way = way_of(strategy, all_groups_by(transport));
      for (const auto& [ctas, has_ctas] : kCtas) {
        const bool good =
            way != nullptr && has_ctas && ctas >= way->fewest_ctas && ctas <= way->most_ctas;
        if (strategy == strategy_of<Sequential>()) {
          cases.push_back({Sequential{.comm_ctas = ctas, .transport = transport}, good});
          continue;
        }
        for (const auto& [chunks, has_chunks] : kChunks) {
          cases.push_back({Chunked{.comm_ctas = ctas, .chunks = chunks, .transport = transport},
                           good && has_chunks});
        }
      }
    }
  }
}

/// All transports, waits and CTAs together; every other field by itself.
inline void add_signaled_cases(std::vector<Case>& cases) {
  for (int pair = 0; pair < kTransports * kTransports * kWaits; ++pair) {
    const GroupTransports transport{static_cast<Transport>(pair % kTransports),
                                    static_cast<Transport>(pair / kTransports % kTransports)};
    const auto wait = static_cast<Wait>(pair / kTransports / kTransports);
    const Way* const way = way_of(strategy_of<Signaled>(), transport);
    const bool may_wait =
        wait == Wait::driver || (wait == Wait::kernel && way != nullptr && way->kernel_may_wait);
    const bool is_way = way != nullptr && may_wait;
    const Signaled usual{.tile = {128, 256, 64, 4, 2},
                         .swizzle = 8,
                         .comm_ctas = 16,
                         .transport = transport,
                         .wait = wait,
                         .wave_groups = {928, 96}};
    for (const auto& [ctas, good] : kCtas) {
      Signaled config = usual;
      config.comm_ctas = ctas;
      cases.push_back({config, is_way && good && ctas >= way->fewest_ctas});
    }
    const auto vary = [&](const auto& edges, auto member) {
      for (const auto& [value, good] : edges) {
        Signaled config = usual;
        member(config) = value;
        cases.push_back({config, is_way && good});
      }
    };
    vary(kSides, [](Signaled& config) -> int& { return config.tile.block_m; });
    vary(kSides, [](Signaled& config) -> int& { return config.tile.block_n; });
    vary(kSides, [](Signaled& config) -> int& { return config.tile.block_k; });
    vary(kStages, [](Signaled& config) -> int& { return config.tile.stages; });
    vary(kClusters, [](Signaled& config) -> int& { return config.tile.cluster; });
    vary(kSwizzles, [](Signaled& config) -> int& { return config.swizzle; });
    vary(wave_groups(),
         [](Signaled& config) -> std::vector<std::int64_t>& { return config.wave_groups; });
  }
}

inline void add_waiting_cases(std::vector<Case>& cases) {
  for (int t = 0; t < kTransports; ++t) {
    const auto transport = static_cast<Transport>(t);
    const Way* const way = way_of(strategy_of<Waiting>(), all_groups_by(transport));
    const bool is_way = way != nullptr;
    const Waiting usual{.tile = {128, 256, 64, 4, 2},
                        .swizzle = 8,
                        .comm_ctas = is_way ? way->fewest_ctas : 0,
                        .transport = transport,
                        .wave_groups = {928, 96}};
    for (const auto& [ctas, good] : kCtas) {
      Waiting config = usual;
      config.comm_ctas = ctas;
      const bool suits = is_way && ctas >= way->fewest_ctas && ctas <= way->most_ctas;
      cases.push_back({config, suits && good});
    }
    const auto vary = [&](const auto& edges, auto member) {
      for (const auto& [value, good] : edges) {
        Waiting config = usual;
        member(config) = value;
        cases.push_back({config, is_way && good});
      }
    };
    vary(kSides, [](Waiting& config) -> int& { return config.tile.block_m; });
    vary(kSides, [](Waiting& config) -> int& { return config.tile.block_n; });
    vary(kSides, [](Waiting& config) -> int& { return config.tile.block_k; });
    vary(kStages, [](Waiting& config) -> int& { return config.tile.stages; });
    vary(kClusters, [](Waiting& config) -> int& { return config.tile.cluster; });
    vary(kSwizzles, [](Waiting& config) -> int& { return config.swizzle; });
    vary(wave_groups(),
         [](Waiting& config) -> std::vector<std::int64_t>& { return config.wave_groups; });
  }
}

/// It has no transport, no wait and no CTAs.
inline void add_peer_store_cases(std::vector<Case>& cases) {
  const PeerStore usual{.tile = {128, 256, 64, 4, 2}, .swizzle = 8, .wave_groups = {928, 96}};
  const auto vary = [&](const auto& edges, auto member) {
    for (const auto& [value, good] : edges) {
      PeerStore config = usual;
      member(config) = value;
      cases.push_back({config, good});
    }
  };
  vary(kSides, [](PeerStore& config) -> int& { return config.tile.block_m; });
  vary(kSides, [](PeerStore& config) -> int& { return config.tile.block_n; });
  vary(kSides, [](PeerStore& config) -> int& { return config.tile.block_k; });
  vary(kStages, [](PeerStore& config) -> int& { return config.tile.stages; });
  vary(kClusters, [](PeerStore& config) -> int& { return config.tile.cluster; });
  vary(kSwizzles, [](PeerStore& config) -> int& { return config.swizzle; });
  vary(wave_groups(),
       [](PeerStore& config) -> std::vector<std::int64_t>& { return config.wave_groups; });
}

/// Ways to cut a number of tiles into wave groups, some of them wrong. `column` and
/// `swizzle_group`: the tiles of the first column and of the first swizzle group.
inline std::vector<std::vector<std::int64_t>> ways_to_cut(std::int64_t tiles, std::int64_t column,
                                                          std::int64_t swizzle_group) {
  const auto steps = [&](std::int64_t step) {
    std::vector<std::int64_t> groups;
    for (std::int64_t left = tiles; left > 0; left -= groups.back()) {
      groups.push_back(std::min(left, step));
    }
    return groups;
  };
  return {{tiles},
          {tiles + 1},
          {tiles, 1},
          {std::max<std::int64_t>(tiles - 1, 1)},
          steps(column),
          steps(2 * column),
          steps(swizzle_group),
          steps(swizzle_group + column),
          steps(column + 1)};
}

}  // namespace detail

/// Every strategy, transport and wait, with values of every field at the ends of its range and
/// beyond.
inline std::vector<Case> alone() {
  std::vector<Case> cases;
  detail::add_library_cases(cases);
  detail::add_signaled_cases(cases);
  detail::add_waiting_cases(cases);
  detail::add_peer_store_cases(cases);
  return cases;
}

/// Configs of every strategy and transport that are legal by themselves. Their chunks and wave
/// groups make up the problem, or nearly so.
inline std::vector<Config> around(const Problem& problem) {
  std::vector<Config> configs;
  const std::int64_t rows = problem.m / row_blocks(problem);
  for (const Way& way : kWays) {
    for (const int ctas : {way.fewest_ctas, std::min(16, way.most_ctas)}) {
      if (way.strategy == strategy_of<Sequential>()) {
        configs.push_back(Sequential{.comm_ctas = ctas, .transport = way.transport.last});
      }
      for (const std::int64_t chunks : {std::int64_t{1}, rows / 3 + 1, rows, rows + 1}) {
        if (way.strategy != strategy_of<Chunked>()) continue;
        configs.push_back(Chunked{.comm_ctas = ctas,
                                  .chunks = static_cast<int>(chunks),
                                  .transport = way.transport.last});
      }
      for (const Tile& tile : {Tile{64, 48, 64, 4, 1}, Tile{128, 16, 64, 3, 2}}) {
        for (const int swizzle : {1, 3}) {
          if (way.strategy != strategy_of<Signaled>()) continue;
          const TileOrder order = tile_order(problem, tile, swizzle);
          const std::int64_t column = order.column_tiles(0);
          for (auto& groups :
               detail::ways_to_cut(order.tiles(), column, column * order.columns())) {
            Signaled config{.tile = tile,
                            .swizzle = swizzle,
                            .comm_ctas = ctas,
                            .transport = way.transport,
                            .wave_groups = std::move(groups)};
            configs.push_back(config);
            config.wait = Wait::kernel;
            if (way.kernel_may_wait) configs.push_back(std::move(config));
          }
        }
        for (const int swizzle : {1, 3}) {
          if (way.strategy != strategy_of<PeerStore>()) continue;
          const TileOrder order = tile_order(problem, tile, swizzle);
          const std::int64_t column = order.column_tiles(0);
          for (auto& groups :
               detail::ways_to_cut(order.tiles(), column, column * order.columns())) {
            configs.push_back(
                PeerStore{.tile = tile, .swizzle = swizzle, .wave_groups = std::move(groups)});
          }
        }
        for (const int swizzle : {1, 3}) {
          if (way.strategy != strategy_of<Waiting>()) continue;
          const auto add = [&](std::vector<std::int64_t> groups) {
            configs.push_back(Waiting{.tile = tile,
                                      .swizzle = swizzle,
                                      .comm_ctas = ctas,
                                      .transport = way.transport.last,
                                      .wave_groups = std::move(groups)});
          };
          const TileOrder order = tile_order(problem, tile, swizzle);
          const std::int64_t block = order.tiles() / order.blocks;
          const std::int64_t column = order.column_tiles(0) / order.blocks;
          for (const auto& of_block :
               detail::ways_to_cut(block, column, column * order.columns())) {
            std::vector<std::int64_t> groups{block};
            for (int i = 1; i < order.blocks; ++i) {
              groups.insert(groups.end(), of_block.begin(), of_block.end());
            }
            add(groups);
            // The rank's own row block is not cut, and no group has tiles of two row blocks.
            if (block == 1) continue;
            groups.front() = block - 1;
            groups.insert(groups.begin(), 1);
            add(groups);
          }
          add({order.tiles()});
          if (order.blocks > 1) add({block, order.tiles() - block});
        }
      }
    }
  }
  return configs;
}

/// Problems of every op: row blocks of one panel and of many, sides that no tile divides, and one
/// with more columns than a launch has regions.
inline std::vector<Problem> problems() {
  std::vector<Problem> all;
  for (const auto& op : NamesOf<Op>::all) {
    for (const auto& [m, n, ranks] :
         {std::array{256, 48, 4}, std::array{520, 200, 2}, std::array{640, 4000, 4}}) {
      all.push_back({op.value, m, n, 64, Elements::bf16, ranks});
    }
  }
  return all;
}

}  // namespace overlaptune::cases
