#pragma once
// Configs at and beyond the edges of legality: op x strategy x transport x wait, and each field at
// its edge values.

#include <limits>
#include <vector>

#include "core/config/config.hpp"
#include "core/problem.hpp"

namespace overlaptune::legality {

struct Case {
  Problem problem{};
  Config config{};
};

/// Small enough to be simulated by the thousand: 8 x 8 tiles of 128 x 128 for all ranks.
inline Problem problem_of(Op op) {
  return {.op = op, .m = 1024, .n = 1024, .k = 512, .elements = Elements::bf16, .ranks = 4};
}

inline std::vector<int> edges(int least, int usual, int most) {
  return {std::numeric_limits<int>::min(), -1, 0, least, usual, most,
          std::numeric_limits<int>::max()};
}

/// Adds a copy of the config for each edge value of one of its fields.
template <class Own, class Set>
void vary(std::vector<Config>& configs, const Own& base, const std::vector<int>& values, Set set) {
  for (const int value : values) {
    Own changed = base;
    set(changed) = value;
    configs.push_back(changed);
  }
}

inline std::vector<Config> sequential_configs() {
  std::vector<Config> configs;
  for (const auto& [transport, name] : NamesOf<Transport>::all) {
    vary(configs, Sequential{.transport = transport}, edges(1, 16, 131),
         [](Sequential& c) -> int& { return c.comm_ctas; });
  }
  return configs;
}

inline std::vector<Config> chunked_configs() {
  std::vector<Config> configs;
  for (const auto& [transport, name] : NamesOf<Transport>::all) {
    const Chunked base{.comm_ctas = 16, .chunks = 4, .transport = transport};
    vary(configs, base, edges(1, 8, 132), [](Chunked& c) -> int& { return c.comm_ctas; });
    vary(configs, base, edges(1, 2, 256), [](Chunked& c) -> int& { return c.chunks; });
    vary(configs, base, edges(1, 257, 1024), [](Chunked& c) -> int& { return c.chunks; });
  }
  return configs;
}

inline std::vector<Config> signaled_configs() {
  std::vector<Config> configs;
  for (const Transport beside :
       {Transport::ring, Transport::symmetric, Transport::copy_engine, Transport::peer_access}) {
    for (const Transport last : {beside, Transport::ring, Transport::peer_access}) {
      for (const Wait wait : {Wait::driver, Wait::kernel}) {
        const Signaled base{.tile = {128, 128, 64, 4, 1},
                            .swizzle = 1,
                            .comm_ctas = 16,
                            .transport = {beside, last},
                            .wait = wait,
                            .wave_groups = {32, 32}};
        configs.push_back(base);
        vary(configs, base, edges(1, 8, 131), [](Signaled& c) -> int& { return c.comm_ctas; });
        vary(configs, base, {132, 65535, 65536}, [](Signaled& c) -> int& { return c.comm_ctas; });
        vary(configs, base, edges(1, 8, 1 << 30), [](Signaled& c) -> int& { return c.swizzle; });
        vary(configs, base, edges(1, 3, 64), [](Signaled& c) -> int& { return c.tile.stages; });
        vary(configs, base, edges(1, 2, 3), [](Signaled& c) -> int& { return c.tile.cluster; });
        for (int Tile::*const side : {&Tile::block_m, &Tile::block_n, &Tile::block_k}) {
          vary(configs, base, edges(1, 64, 65536),
               [=](Signaled& c) -> int& { return c.tile.*side; });
        }
        const std::vector<std::vector<std::int64_t>> groups{
            {},       {64},     {0, 64},      {-1, 65},
            {63},     {65},     {4, 60},      {1, 63},
            {33, 31}, {32, 31}, {16, 16, 32}, {std::numeric_limits<std::int64_t>::max(), 1}};
        for (const auto& each : groups) {
          Signaled changed = base;
          changed.wave_groups = each;
          configs.push_back(changed);
        }
      }
    }
  }
  return configs;
}

inline std::vector<Config> waiting_configs() {
  std::vector<Config> configs;
  for (const auto& [transport, name] : NamesOf<Transport>::all) {
    const Waiting base{.tile = {128, 128, 64, 4, 1},
                       .swizzle = 1,
                       .comm_ctas = transport == Transport::copy_engine ? kNoCtas : 8,
                       .transport = transport,
                       .wave_groups = {16, 8, 8, 16, 16}};
    configs.push_back(base);
    vary(configs, base, edges(1, 8, 131), [](Waiting& c) -> int& { return c.comm_ctas; });
    vary(configs, base, edges(1, 8, 1 << 30), [](Waiting& c) -> int& { return c.swizzle; });
    vary(configs, base, edges(1, 3, 64), [](Waiting& c) -> int& { return c.tile.stages; });
    vary(configs, base, edges(1, 2, 3), [](Waiting& c) -> int& { return c.tile.cluster; });
    for (int Tile::*const side : {&Tile::block_m, &Tile::block_n, &Tile::block_k}) {
      vary(configs, base, edges(1, 64, 65536), [=](Waiting& c) -> int& { return c.tile.*side; });
    }
    const std::vector<std::vector<std::int64_t>> groups{{},
                                                        {64},
                                                        {16, 48},
                                                        {16, 16, 16, 16},
                                                        {8, 8, 48},
                                                        {16, 8, 24, 16},
                                                        {16, 4, 12, 32},
                                                        {16, 16, 16, 15},
                                                        {0, 64},
                                                        {16, 16, 16, 16, 16}};
    for (const auto& each : groups) {
      Waiting changed = base;
      changed.wave_groups = each;
      configs.push_back(changed);
    }
  }
  return configs;
}

inline std::vector<Config> peer_store_configs() {
  std::vector<Config> configs;
  const PeerStore base{.tile = {128, 128, 64, 4, 1}, .swizzle = 1, .wave_groups = {32, 32}};
  configs.push_back(base);
  vary(configs, base, edges(1, 8, 1 << 30), [](PeerStore& c) -> int& { return c.swizzle; });
  vary(configs, base, edges(1, 3, 64), [](PeerStore& c) -> int& { return c.tile.stages; });
  vary(configs, base, edges(1, 2, 3), [](PeerStore& c) -> int& { return c.tile.cluster; });
  for (int Tile::*const side : {&Tile::block_m, &Tile::block_n, &Tile::block_k}) {
    vary(configs, base, edges(1, 64, 65536), [=](PeerStore& c) -> int& { return c.tile.*side; });
  }
  const std::vector<std::vector<std::int64_t>> groups{
      {},
      {64},
      {4, 60},
      {1, 63},
      {0, 64},
      {63},
      {65},
      {33, 31},
      {32, 31},
      {16, 16, 32},
      {-1, 65},
      {8, 8, 8, 8, 8, 8, 8, 8},
      {std::numeric_limits<std::int64_t>::max(), 1}};
  for (const auto& each : groups) {
    PeerStore changed = base;
    changed.wave_groups = each;
    configs.push_back(changed);
  }
  return configs;
}

/// Every config with every op.
inline std::vector<Case> all_cases() {
  std::vector<Case> cases;
  for (const auto& [op, name] : NamesOf<Op>::all) {
    for (const auto& configs : {sequential_configs(), chunked_configs(), signaled_configs(),
                                waiting_configs(), peer_store_configs()}) {
      for (const Config& config : configs) cases.push_back({problem_of(op), config});
    }
  }
  return cases;
}

}  // namespace overlaptune::legality
