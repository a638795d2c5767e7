#include "core/config.hpp"

#include <algorithm>
#include <iterator>
#include <random>
#include <sstream>

#include <gtest/gtest.h>

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

/// Any config that keeps the rules of config.hpp.
Config random_config(Draw& draw) {
  const auto& strategies = NamesOf<Strategy>::all;
  const auto& transports = NamesOf<Transport>::all;
  Config config;
  config.strategy = strategies[static_cast<std::size_t>(draw.from(0, 4))].value;
  config.transport = transports[static_cast<std::size_t>(draw.from(0, 2))].value;
  config.comm_ctas = draw.from(needs_ctas(config) ? 1 : 0, 132);
  if (config.strategy == Strategy::signaled || draw.coin()) {
    config.tile = {.block_m = 64 * draw.from(1, 4),
                   .block_n = 16 * draw.from(1, 16),
                   .block_k = draw.from(1, 128),
                   .stages = draw.from(1, 12),
                   .cluster = draw.from(1, 2)};
    config.raster = draw.from(1, 64);
  }
  const bool flagged = config.strategy == Strategy::copy_engine;
  if (config.strategy == Strategy::signaled || (flagged && draw.coin())) {
    config.wave_groups.resize(static_cast<std::size_t>(draw.from(1, 40)));
    for (std::int64_t& group : config.wave_groups) group = draw.tiles();
  }
  if (config.strategy == Strategy::chunked || flagged) config.chunks = draw.from(1, 48);
  if (config.strategy == Strategy::signaled && config.transport != Transport::copy_engine &&
      draw.coin()) {
    config.wait = Wait::kernel;
  }
  return config;
}

std::string shuffled(const std::string& line, Draw& draw) {
  std::istringstream in(line);
  std::vector<std::string> words{std::istream_iterator<std::string>(in), {}};
  std::shuffle(words.begin(), words.end(), draw.random());
  std::string text = "\t ";
  for (const std::string& word : words) text += word + (draw.coin() ? "  " : "\n");
  return text;
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
  EXPECT_EQ(parse_config("sequential"), Config{});
  EXPECT_EQ(parse_config("strategy=sequential tile=library"), Config{});
  EXPECT_EQ(parse_config("chunked chunks=4 ctas=16"),
            (Config{.strategy = Strategy::chunked, .comm_ctas = 16, .chunks = 4}));
  EXPECT_EQ(parse_config("chunked transport=copy_engine"),
            (Config{.strategy = Strategy::chunked, .transport = Transport::copy_engine}));
}

TEST(Config, the_line_tells_the_wait_only_where_it_is_not_the_drivers) {
  Config config{.strategy = Strategy::signaled,
                .tile = {128, 256, 64, 4, 2},
                .raster = 8,
                .comm_ctas = 16,
                .wave_groups = {928, 96}};
  const std::string before = "signaled tile=128x256x64 stages=4 cluster=2 raster=8 ctas=16 ";
  EXPECT_EQ(to_string(config), before + "transport=ring groups=928,96");
  EXPECT_EQ(parse_config(before + "wait=driver groups=928,96"), config);
  config.wait = Wait::kernel;
  EXPECT_EQ(to_string(config), before + "transport=ring wait=kernel groups=928,96");
}

struct BadText {
  std::string text;
  const char* named;
};

TEST(Config, bad_text_is_one_line_that_names_the_field) {
  const std::string tile = "tile=128x256x64 stages=4 cluster=1 raster=8 ";
  const BadText cases[] = {
      {"", "strategy: missing: expected one of sequential"},
      {" \n ", "strategy: missing"},
      {"ctas=16", "strategy: missing"},
      {"signalled", "strategy = 'signalled': expected one of"},
      {"sequential chunked", "strategy = 'chunked': given twice"},
      {"chunked ctas=8 ctas=8", "ctas = '8': given twice"},
      {"sequential comm_ctas=8", "field 'comm_ctas': expected"},
      {"sequential =8", "field '': expected"},
      {"sequential =", "field '': expected"},
      {"chunked ctas=", "ctas = '': expected 0 to 65535"},
      {"chunked ctas=-1", "ctas = '-1'"},
      {"chunked ctas=+1", "ctas = '+1'"},
      {"chunked ctas=1.5", "ctas = '1.5'"},
      {"chunked ctas=0x10", "ctas = '0x10'"},
      {"chunked ctas=99999999999999999999", "ctas = '99999999999999999999'"},
      {"chunked ctas=8 chunks=0", "chunks = '0'"},
      {"chunked chunks=4", "ctas = 0: chunked by ring needs 1"},
      {"sequential chunks=4", "chunks = 4: sequential has none"},
      {"sequential groups=4", "groups: sequential has none"},
      {"sequential transport=bus", "transport = 'bus': expected one of ring"},
      {"signaled ctas=8 groups=4", "tile: missing"},
      {"signaled ctas=8 " + tile, "groups: missing"},
      {"signaled groups=4 " + tile, "ctas: missing: signaled needs 0"},
      {"signaled ctas=0 transport=peer_access groups=4 " + tile,
       "ctas = 0: signaled by peer_access needs 1"},
      {"signaled ctas=8 groups=4 tile=128x256x64 stages=4 cluster=1", "raster: missing"},
      {"signaled ctas=8 groups=4 tile=128x256x64 stages=4 cluster=3", "cluster = '3': expected 1"},
      {"signaled tile=128x256", "tile = '128x256': expected MxNxK"},
      {"signaled tile=128", "tile = '128'"},
      {"signaled tile=128x256x64x2", "tile = '128x256x64x2'"},
      {"signaled tile=0x256x64", "tile = '0x256x64'"},
      {"signaled tile=128x256x", "tile = '128x256x'"},
      {"sequential wait=kernel", "wait = kernel: expected driver with sequential by ring"},
      {"signaled ctas=8 groups=4 wait=kernel transport=copy_engine " + tile,
       "wait = kernel: expected driver with signaled by copy_engine"},
      {"signaled wait=us", "wait = 'us': expected one of driver, kernel"},
      {"sequential stages=4", "stages = 4: expected only beside a tile"},
      {"signaled groups=", "groups = ''"},
      {"signaled groups=4,", "groups = '4,'"},
      {"signaled groups=,4", "groups = ',4'"},
      {"signaled groups=4,,4", "groups = '4,,4'"},
      {"signaled groups=4,-4", "groups = '4,-4'"},
      {"signaled groups=4611686018427387904,1", "groups = "},
      {"signaled groups=9223372036854775807,9223372036854775807", "groups = "},
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
      // Whatever was understood is a config like any other.
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
