#include "tests/gpu/plan_check/every_config.hpp"

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "core/config/config_fields.hpp"
#include "core/config/strategies.hpp"
#include "core/config/transport.hpp"

namespace overlaptune::plan_check {

std::vector<Config> those_that_run(std::vector<Config> configs, Op op) {
  std::erase_if(configs, [&](const Config& config) {
    return !traits_of(strategy_of(config)).ops.contains(op) ||
           !serves(transport_of(config), collective_of(op));
  });
  return configs;
}

Problem problem(Op op, int ranks) {
  return {
      .op = op, .m = ranks * 1024, .n = 2048, .k = 512, .elements = Elements::bf16, .ranks = ranks};
}

std::vector<Config> configs(const Problem& of) {
  const std::string ours =
      "signaled tile=128x128x64 stages=4 cluster=1 swizzle=4 ctas=8 transport=";
  // Groups that end within a swizzle group, and groups of whole swizzle groups, which copy engines
  // can move.
  const std::string staged = fmt::format(" groups={0},{1},{0}", 12 * of.ranks, 104 * of.ranks);
  const std::string whole = fmt::format(" groups={0},{0}", 64 * of.ranks);
  std::vector<std::string> lines{
      "sequential ctas=0 transport=ring",        "sequential ctas=0 transport=symmetric",
      "sequential ctas=0 transport=copy_engine", "sequential ctas=8 transport=peer_access",
      "chunked ctas=16 transport=ring chunks=4", "chunked ctas=16 transport=symmetric chunks=4"};
  for (const char* transport : {"ring", "symmetric", "symmetric_then_ring", "peer_access"}) {
    lines.push_back(ours + transport + staged);
  }
  lines.push_back(ours + "copy_engine" + whole);
  lines.push_back("peer_store tile=128x128x64 stages=4 cluster=1 swizzle=4" + staged);
  // 1024 rows of each rank: 8 panels of 16 columns, in two groups each but for the rank's own.
  const std::string waiting = "waiting tile=128x128x64 stages=4 cluster=1 swizzle=4 ";
  std::string groups = " groups=128";
  for (int rank = 1; rank < of.ranks; ++rank) groups += ",64,64";
  lines.push_back(waiting + "transport=copy_engine" + groups);
  lines.push_back(waiting + "transport=copy_engine k_chunks=4" + groups);
  lines.push_back(waiting + "ctas=8 transport=peer_access" + groups);
  lines.push_back(waiting + "ctas=8 transport=peer_access k_chunks=4" + groups);
  std::string blocks = " groups=128";
  for (int rank = 1; rank < of.ranks; ++rank) blocks += ",128";
  lines.push_back(waiting + "transport=peer_access" + blocks);
  lines.push_back(waiting + "transport=peer_access k_chunks=4" + blocks);
  std::vector<Config> list;
  for (const std::string& line : lines) list.push_back(value_or_throw(parse_config(line)));
  return those_that_run(std::move(list), of.op);
}

Problem small_problem(Op op, int ranks) {
  return {
      .op = op, .m = ranks * 128, .n = 512, .k = 1024, .elements = Elements::bf16, .ranks = ranks};
}

std::vector<Config> small_configs(const Problem& of) {
  constexpr std::int64_t kTiles = 8;
  constexpr Tile kTile{128, 64, 64, 4, 1};
  const PeerStore stored{.tile = kTile, .swizzle = 1, .wave_groups = {kTiles * of.ranks}};
  Waiting copied{.tile = kTile, .swizzle = 1};
  copied.wave_groups.assign(static_cast<std::size_t>(of.ranks), kTiles);
  Waiting pushed = copied;
  pushed.comm_ctas = 8;
  pushed.transport = Transport::peer_access;
  Waiting pushed_by_tiles = pushed;
  pushed_by_tiles.comm_ctas = kTilesPush;
  pushed_by_tiles.k_chunks = 4;
  return those_that_run({Config{}, stored, copied, pushed, pushed_by_tiles}, of.op);
}

std::string name_of(const Problem& of, const Config& config) {
  std::string name = fmt::format("{} {} ", to_string(of.op), to_string(strategy_of(config)));
  with_field<config_field::Transport>(config, [&](const auto& value) { name += to_string(value); });
  return name;
}

}  // namespace overlaptune::plan_check
