#include "core/config/config.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <set>
#include <sstream>
#include <utility>

#include <gtest/gtest.h>

#include "core/config/config_fields.hpp"

namespace overlaptune {
namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  int from(int least, int most) { return std::uniform_int_distribution<int>(least, most)(random_); }
  std::int64_t tiles() {
    return std::uniform_int_distribution<std::int64_t>(1, std::int64_t{1} << from(1, 40))(random_);
  }
  bool coin() { return from(0, 1) == 1; }
  std::mt19937& random() { return random_; }

 private:
  std::mt19937 random_;
};

GroupTransports any_transports(Draw& draw) {
  const auto& all = NamesOf<GroupTransports>::all;
  return all[static_cast<std::size_t>(draw.from(0, static_cast<int>(all.size()) - 1))].value;
}
Transport any_nccl_transport(Draw& draw) {
  return draw.coin() ? Transport::ring : Transport::symmetric;
}

Signaled random_signaled(Draw& draw) {
  Signaled config{.tile = {.block_m = 64 * draw.from(1, 4),
                           .block_n = 16 * draw.from(1, 16),
                           .block_k = draw.from(1, 128),
                           .stages = draw.from(1, 12),
                           .cluster = draw.from(1, 2)},
                  .swizzle = draw.from(1, 64),
                  .transport = any_transports(draw)};
  const Transport beside = config.transport.beside_gemm;
  const bool by_nccl = beside == Transport::ring || beside == Transport::symmetric;
  config.comm_ctas = draw.from(by_nccl ? 0 : 1, 132);
  if (beside != Transport::copy_engine && draw.coin()) config.wait = Wait::kernel;
  config.wave_groups.resize(static_cast<std::size_t>(draw.from(1, 40)));
  for (std::int64_t& group : config.wave_groups) group = draw.tiles();
  return config;
}

/// Any config that keeps the rules of its strategy.
Config random_config(Draw& draw) {
  switch (draw.from(0, 3)) {
    case 0:
      return Sequential{.comm_ctas = draw.from(0, 132), .transport = any_nccl_transport(draw)};
    case 1:
      return Chunked{.comm_ctas = draw.from(1, 132),
                     .chunks = draw.from(1, 48),
                     .transport = any_nccl_transport(draw)};
    case 2: {
      const Signaled other = random_signaled(draw);
      return PeerStore{
          .tile = other.tile, .swizzle = other.swizzle, .wave_groups = other.wave_groups};
    }
    default:
      return random_signaled(draw);
  }
}

std::string shuffled(const std::string& line, Draw& draw) {
  std::istringstream in(line);
  std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  std::shuffle(words.begin(), words.end(), draw.random());
  std::string text = "\t ";
  for (const std::string& word : words) text += word + (draw.coin() ? "  " : "\n");
  return text;
}

TEST(Config, a_tile_is_printed_by_its_sides) {
  EXPECT_EQ(to_string(Tile{128, 256, 64}), "128x256x64");
  EXPECT_EQ(to_string(Tile{}), "library");
}

TEST(Config, is_read_from_the_line_that_it_prints) {
  Draw draw(1);
  for (int i = 0; i < 20'000; ++i) {
    const Config config = random_config(draw);
    const std::string line = to_string(config);
    const auto read = parse_config(line);
    ASSERT_TRUE(read) << line << ": " << read.error().message;
    ASSERT_EQ(*read, config) << line;
    ASSERT_EQ(to_string(*read), line);
    ASSERT_EQ(parse_config(shuffled(line, draw)), config) << line;
  }
}

TEST(Config, what_is_left_out_keeps_its_default) {
  EXPECT_EQ(parse_config("sequential"), Config(Sequential{}));
  EXPECT_EQ(parse_config("strategy=sequential"), Config(Sequential{}));
  EXPECT_EQ(parse_config("chunked chunks=4 ctas=16"),
            Config(Chunked{.comm_ctas = 16, .chunks = 4}));
  EXPECT_EQ(parse_config("chunked ctas=16"), Config(Chunked{.comm_ctas = 16}));
  EXPECT_EQ(parse_config("signaled tile=128x256x64 stages=4 cluster=1 swizzle=8 ctas=0 groups=4"),
            Config(Signaled{.tile = {128, 256, 64, 4, 1}, .swizzle = 8, .wave_groups = {4}}));
}

/// Tables have a column for the field, and people copy from tables.
TEST(Config, a_field_that_the_strategy_does_not_have_may_be_said_to_be_none) {
  EXPECT_EQ(parse_config("sequential tile=library chunks=1 wait=driver"), Config(Sequential{}));
  EXPECT_EQ(parse_config("chunked ctas=8 tile=library wait=driver"),
            Config(Chunked{.comm_ctas = 8}));
  EXPECT_EQ(
      parse_config("signaled tile=64x64x64 stages=4 cluster=1 swizzle=1 ctas=8 groups=4 chunks=1"),
      Config(
          Signaled{.tile = {64, 64, 64, 4, 1}, .swizzle = 1, .comm_ctas = 8, .wave_groups = {4}}));
}

TEST(Config, the_line_tells_chunks_and_the_wait_only_where_they_are_not_the_default) {
  EXPECT_EQ(to_string(Chunked{.comm_ctas = 8}), "chunked ctas=8 transport=ring");
  EXPECT_EQ(to_string(Chunked{.comm_ctas = 8, .chunks = 2, .transport = Transport::symmetric}),
            "chunked ctas=8 transport=symmetric chunks=2");
  Signaled config{
      .tile = {128, 256, 64, 4, 2}, .swizzle = 8, .comm_ctas = 16, .wave_groups = {928, 96}};
  const std::string before = "signaled tile=128x256x64 stages=4 cluster=2 swizzle=8 ctas=16 ";
  EXPECT_EQ(to_string(config), before + "transport=ring groups=928,96");
  EXPECT_EQ(parse_config(before + "wait=driver groups=928,96"), Config(config));
  config.wait = Wait::kernel;
  EXPECT_EQ(to_string(config), before + "transport=ring wait=kernel groups=928,96");
}

TEST(Config, lines_are_equal_for_equal_configs_only) {
  Draw draw(3);
  std::map<std::string, Config> seen;
  for (int i = 0; i < 20'000; ++i) {
    const Config config = random_config(draw);
    const auto [found, is_new] = seen.try_emplace(to_string(config), config);
    ASSERT_EQ(found->second, config) << found->first;
  }
  EXPECT_GT(seen.size(), 5'000U);
  EXPECT_EQ(to_string(Config{}), "sequential ctas=0 transport=ring");
}

TEST(Config, the_last_group_may_go_another_way) {
  const auto config = parse_config(
      "signaled tile=128x256x64 stages=4 cluster=1 swizzle=8 ctas=16 groups=928,96 "
      "transport=symmetric_then_ring");
  ASSERT_TRUE(config);
  EXPECT_EQ(std::get<Signaled>(*config).transport,
            (GroupTransports{Transport::symmetric, Transport::ring}));
  EXPECT_EQ(transport_of(*config), Transport::symmetric);
  for (const char* line : {"sequential transport=symmetric_then_ring",
                           "chunked ctas=8 transport=symmetric_then_ring"}) {
    EXPECT_FALSE(parse_config(line)) << line;
  }
}

TEST(Config, says_what_all_strategies_have_or_lack) {
  const Config sequential = Sequential{.comm_ctas = 5, .transport = Transport::symmetric};
  const Config chunked = Chunked{.comm_ctas = 6, .chunks = 3};
  Config signaled = Signaled{.tile = {64, 128, 64, 3, 1},
                             .swizzle = 1,
                             .comm_ctas = 7,
                             .transport = all_groups_by(Transport::peer_access),
                             .wave_groups = {3, 4}};
  EXPECT_EQ(comm_ctas(sequential), 5);
  EXPECT_EQ(comm_ctas(chunked), 6);
  EXPECT_EQ(comm_ctas(signaled), 7);
  EXPECT_EQ(transport_of(sequential), Transport::symmetric);
  EXPECT_EQ(transport_of(chunked), Transport::ring);
  EXPECT_EQ(transport_of(signaled), Transport::peer_access);
  EXPECT_TRUE(tile_of(sequential).is_library());
  EXPECT_TRUE(tile_of(chunked).is_library());
  EXPECT_EQ(tile_of(signaled), (Tile{64, 128, 64, 3, 1}));
  EXPECT_TRUE(wave_groups_of(chunked).empty());
  EXPECT_EQ(wave_groups_of(std::as_const(signaled)).size(), 2U);
  wave_groups_of(signaled)->push_back(5);
  EXPECT_EQ(std::get<Signaled>(signaled).wave_groups, (std::vector<std::int64_t>{3, 4, 5}));
}

TEST(Config, each_strategy_has_its_own_fields_with_their_columns) {
  const auto columns = [](const Config& config) {
    std::string list;
    each_field(config, [&](auto field, const auto&, Presence) {
      list += std::string(field.info.column) + " ";
    });
    return list;
  };
  EXPECT_EQ(columns(Sequential{}), "comm_ctas transport ");
  EXPECT_EQ(columns(Chunked{}), "comm_ctas transport chunks ");
  EXPECT_EQ(columns(Signaled{}),
            "tile stages cluster swizzle comm_ctas transport wait wave_groups ");
  std::set<std::string_view> all;
  each_field_type([&](auto field) { all.insert(field.info.column); });
  EXPECT_EQ(all,
            (std::set<std::string_view>{"tile", "stages", "cluster", "swizzle", "comm_ctas",
                                        "wave_groups", "chunks", "k_chunks", "transport", "wait"}));
  Config config = Chunked{.comm_ctas = 8, .chunks = 2};
  with_field<config_field::Chunks>(config, [](auto& chunks) { chunks = 9; });
  with_field<config_field::Wait>(config, [](auto&) { ADD_FAILURE() << "chunked has no wait"; });
  EXPECT_EQ(config, Config(Chunked{.comm_ctas = 8, .chunks = 9}));
}

struct BadText {
  std::string text;
  const char* named;
};

TEST(Config, bad_text_is_one_line_that_names_the_field) {
  const std::string tile = "tile=128x256x64 stages=4 cluster=1 swizzle=8 ";
  const std::string rest = "stages=4 cluster=1 swizzle=8 ctas=8 groups=4 ";
  const std::string no_groups = "signaled ctas=8 " + tile;
  const BadText cases[] = {
      {"", "strategy: missing: expected one of sequential"},
      {" \n ", "strategy: missing"},
      {"ctas=16", "strategy: missing"},
      {"signalled", "strategy = 'signalled': expected one of"},
      {"copy_engine ctas=8",
       "strategy = 'copy_engine': expected one of sequential, chunked, signaled"},
      {"peer_store", "tile: missing: peer_store needs"},
      {"peer_store groups=4 transport=peer_access " + tile,
       "transport = 'peer_access': peer_store"},
      {"peer_store groups=4 ctas=8 " + tile, "ctas = '8': peer_store has none"},
      {"sequential chunked", "strategy = 'chunked': given twice"},
      {"sequential strategy=sequential", "strategy = 'sequential': given twice"},
      {"chunked ctas=8 ctas=8", "ctas = '8': given twice"},
      {"sequential tile=library tile=library", "tile = 'library': given twice"},
      {"sequential comm_ctas=8", "field 'comm_ctas': expected"},
      {"sequential =8", "field '': expected"},
      {"sequential =", "field '': expected"},
      {"chunked ctas=", "ctas = '': expected 1 to 65535"},
      {"chunked ctas=-1", "ctas = '-1'"},
      {"chunked ctas=+1", "ctas = '+1'"},
      {"chunked ctas=1.5", "ctas = '1.5'"},
      {"chunked ctas=0x10", "ctas = '0x10'"},
      {"chunked ctas=65536", "ctas = '65536'"},
      {"chunked ctas=99999999999999999999", "ctas = '99999999999999999999'"},
      {"chunked ctas=8 chunks=0", "chunks = '0'"},
      {"chunked chunks=4", "ctas: missing: chunked needs"},
      {"chunked ctas=0 chunks=4", "ctas = 0: expected 1 or more with chunked"},
      {"chunked ctas=8 transport=copy_engine",
       "transport = copy_engine: chunked has no such transport"},
      {"sequential transport=peer_access", "ctas = 0: expected 1 or more by peer_access"},
      {"sequential ctas=1 transport=copy_engine", "ctas = 1: expected 0 by copy_engine"},
      {"sequential chunks=4", "chunks = '4': sequential has none"},
      {"sequential groups=4", "groups = '4': sequential has none"},
      {"sequential groups=", "groups = '': sequential has none"},
      {"sequential transport=bus", "transport = 'bus': expected one of ring"},
      {"sequential tile=128x256x64", "tile = '128x256x64': sequential has none"},
      {"signaled ctas=8 groups=4", "tile: missing: signaled needs MxNxK"},
      {no_groups, "groups: missing: signaled needs tile counts"},
      {"signaled groups=4 " + tile, "ctas: missing: signaled needs 0 to 65535"},
      {"signaled ctas=0 transport=peer_access groups=4 " + tile,
       "ctas = 0: expected 1 or more with signaled by peer_access"},
      {"signaled ctas=0 transport=copy_engine groups=4 " + tile,
       "ctas = 0: expected 1 or more with signaled by copy_engine"},
      {"signaled ctas=8 groups=4 tile=128x256x64 stages=4 cluster=1", "swizzle: missing"},
      {"signaled ctas=8 groups=4 tile=128x256x64 stages=4 cluster=3", "cluster = '3': expected 1"},
      {"signaled ctas=8 groups=4 tile=128x256x64 stages=65", "stages = '65': expected 1 to 64"},
      {"signaled ctas=8 groups=4 tile=128x256x64 stages=4 cluster=1 swizzle=0", "swizzle = '0'"},
      {"signaled tile=library " + rest, "tile = 'library': expected MxNxK"},
      {"signaled tile=128x256 " + rest, "tile = '128x256': expected MxNxK"},
      {"signaled tile=128 " + rest, "tile = '128'"},
      {"signaled tile=128x256x64x2 " + rest, "tile = '128x256x64x2'"},
      {"signaled tile=0x256x64 " + rest, "tile = '0x256x64'"},
      {"signaled tile=128x256x65537 " + rest, "tile = '128x256x65537'"},
      {"signaled tile=128x256x " + rest, "tile = '128x256x'"},
      {"signaled tile=xx " + rest, "tile = 'xx'"},
      {"sequential wait=kernel", "wait = 'kernel': sequential has none"},
      {no_groups + "groups=4 wait=kernel transport=copy_engine",
       "wait = kernel: expected driver with signaled by copy_engine"},
      {no_groups + "groups=4 wait=us", "wait = 'us': expected one of driver, kernel"},
      {no_groups + "groups=4 chunks=2", "chunks = '2': signaled has none"},
      {"sequential stages=4", "stages = '4': sequential has none"},
      {"sequential swizzle=0", "swizzle = '0': sequential has none"},
      {no_groups + "groups=", "groups = ''"},
      {no_groups + "groups=4,", "groups = '4,'"},
      {no_groups + "groups=,4", "groups = ',4'"},
      {no_groups + "groups=4,,4", "groups = '4,,4'"},
      {no_groups + "groups=4,-4", "groups = '4,-4'"},
      {no_groups + "groups=0", "groups = '0'"},
      {no_groups + "groups=4611686018427387904,1", "groups = "},
      {no_groups + "groups=9223372036854775807,9223372036854775807", "groups = "},
      {std::string("sequential ctas=\0 7", 18), "ctas = '?'"},
      {"sequential ctas=\x1b[31m", "ctas = '?[31m'"},
  };
  for (const auto& [text, named] : cases) {
    const auto config = parse_config(text);
    ASSERT_FALSE(config) << text;
    const std::string& message = config.error().message;
    EXPECT_EQ(config.error().kind, ErrorKind::bad_input);
    EXPECT_EQ(message.find("config: "), 0U) << message;
    EXPECT_NE(message.find(named), std::string::npos) << text << ": " << message;
    EXPECT_EQ(message.find('\n'), std::string::npos) << message;
  }
}

TEST(Config, damaged_lines_are_refused_or_read_and_never_more) {
  Draw draw(2);
  constexpr std::string_view kSpice = "=,x 0195-\n\t\0\xc3\xff~abtz";
  int refused = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string line = to_string(random_config(draw));
    for (int damage = draw.from(1, 4); damage > 0 && !line.empty(); --damage) {
      const auto at = static_cast<std::size_t>(draw.from(0, static_cast<int>(line.size()) - 1));
      const char c =
          kSpice[static_cast<std::size_t>(draw.from(0, static_cast<int>(kSpice.size()) - 1))];
      if (draw.coin()) {
        line[at] = c;
      } else if (draw.coin()) {
        line.insert(at, 1, c);
      } else {
        line.erase(at, static_cast<std::size_t>(draw.from(1, 8)));
      }
    }
    const auto config = parse_config(line);
    if (config) {
      // Every text that is understood gives a config like any other.
      EXPECT_EQ(parse_config(to_string(*config)), *config) << line;
      continue;
    }
    ++refused;
    EXPECT_EQ(config.error().message.find('\n'), std::string::npos);
    EXPECT_LT(config.error().message.size(), 300U);
  }
  EXPECT_GT(refused, 1'000);
}

TEST(Config, a_huge_line_is_quoted_briefly) {
  const auto config = parse_config("sequential ctas=" + std::string(1'000'000, '1'));
  ASSERT_FALSE(config);
  EXPECT_LT(config.error().message.size(), 200U);
}

}  // namespace
}  // namespace overlaptune
