#include "core/canonical_config.hpp"

#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace overlaptune {
namespace {

class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}
  std::int64_t from(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool coin() { return from(0, 1) == 1; }
  /// Of any number of digits.
  template <class T>
  T number(T least) {
    const int bits = std::numeric_limits<T>::digits;
    return std::max(least,
                    static_cast<T>(from(0, std::numeric_limits<T>::max()) >> from(0, bits - 1)));
  }
  template <class E>
  E any() {
    const auto& all = NamesOf<E>::all;
    return all[static_cast<std::size_t>(from(0, static_cast<std::int64_t>(all.size()) - 1))].value;
  }

  /// Fields that no strategy has together, too.
  Config config() {
    Config config{.strategy = any<Strategy>(),
                  .comm_ctas = number(0),
                  .chunks = number(1),
                  .transport = any<Transport>(),
                  .wait = any<Wait>()};
    if (coin()) {
      config.tile = {number(1), number(0), number(0), number(0), number(0)};
      config.raster = number(0);
    }
    for (auto groups = coin() ? from(1, 200) : 0; groups > 0; --groups) {
      config.wave_groups.push_back(number(std::int64_t{1}));
    }
    return config;
  }

  /// A few letters changed, added or gone.
  std::string damaged(std::string line) {
    static constexpr std::string_view kSpice{"=,x 0195-+\n\0~acghst", 20};
    for (auto damage = from(1, 3); damage > 0 && !line.empty(); --damage) {
      const auto at = static_cast<std::size_t>(from(0, static_cast<std::int64_t>(line.size()) - 1));
      const char c = kSpice[static_cast<std::size_t>(from(0, kSpice.size() - 1))];
      switch (from(0, 3)) {
        case 0:
          line[at] = c;
          break;
        case 1:
          line.insert(at, 1, c);
          break;
        case 2:
          line.erase(at, static_cast<std::size_t>(from(1, 8)));
          break;
        default:
          line += c;
      }
    }
    return line;
  }

 private:
  std::mt19937_64 random_;
};

TEST(CanonicalConfig, is_read_from_the_line_that_is_printed) {
  Draw draw(1);
  Config read;  // the same for all: nothing of the one before may stay
  for (int i = 0; i < 20'000; ++i) {
    const Config config = draw.config();
    const std::string line = to_string(config);
    ASSERT_TRUE(read_canonical(line, read)) << line;
    ASSERT_EQ(read, config) << line;
  }
}

TEST(CanonicalConfig, another_line_is_refused_or_another_config) {
  Draw draw(2);
  int refused = 0;
  int others = 0;
  Config read;
  for (int i = 0; i < 50'000; ++i) {
    const std::string line = draw.damaged(to_string(draw.config()));
    if (read_canonical(line, read)) {
      ASSERT_EQ(to_string(read), line);
      ++others;
      continue;
    }
    ++refused;
    const std::string why = why_not_canonical(line);
    ASSERT_EQ(why.find("config: "), 0U) << why;
    ASSERT_EQ(why.find('\n'), std::string::npos) << why;
  }
  EXPECT_GT(refused, 10'000);
  EXPECT_GT(others, 500);
}

TEST(CanonicalConfig, people_may_write_it_otherwise_and_a_database_may_not) {
  Config read;
  const std::string good = "signaled tile=128x256x64 stages=4 cluster=2 raster=8 ctas=16 ";
  ASSERT_TRUE(read_canonical(good + "transport=ring groups=928,96", read));
  ASSERT_TRUE(read_canonical(good + "transport=ring wait=kernel groups=928,96", read));
  for (const std::string& line :
       {good + "groups=928,96 transport=ring", good + "groups=928,96",
        good + "transport=ring groups=928,096", good + "transport=ring  groups=928,96",
        good + "transport=ring groups=928,96 ", " " + good + "transport=ring groups=928,96",
        good + "transport=ring wait=driver groups=928,96",
        good + "transport=ring chunks=1 groups=928,96"}) {
    EXPECT_TRUE(parse_config(line)) << line;
    EXPECT_FALSE(read_canonical(line, read)) << line;
    EXPECT_NE(why_not_canonical(line).find("'" + good + "transport=ring"), std::string::npos)
        << why_not_canonical(line);
  }
  for (const std::string line :
       {"", "sequential", "sequential tile=library ctas=0 transport=ring",
        "sequential tile=0x0x0 stages=0 cluster=0 raster=0 ctas=0 transport=ring",
        "sequential ctas=-0 transport=ring", "sequential ctas=+1 transport=ring",
        "sequential ctas=2147483648 transport=ring",
        "sequential ctas=0 transport=ring groups=9223372036854775808",
        "sequential ctas=0 transport=ring groups=", "sequential ctas=0 transport=ring groups=1,",
        "sequential ctas=0 transport=ring groups=0"}) {
    EXPECT_FALSE(read_canonical(line, read)) << line;
  }
}

}  // namespace
}  // namespace overlaptune
