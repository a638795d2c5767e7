// The canonical line, as databases have it.

#include <algorithm>
#include <limits>
#include <random>

#include <gtest/gtest.h>

#include "core/config/check.hpp"
#include "core/config/config.hpp"

namespace overlaptune {
namespace {

class DrawnFields {
 public:
  explicit DrawnFields(unsigned seed) : random_(seed) {}
  std::int64_t from(std::int64_t least, std::int64_t most) {
    return std::uniform_int_distribution<std::int64_t>(least, most)(random_);
  }
  bool coin() { return from(0, 1) == 1; }
  /// A number with any number of digits.
  template <class T>
  T number(T least, T most) {
    const int bits = std::numeric_limits<T>::digits;
    return std::clamp(static_cast<T>(from(0, most) >> from(0, bits - 1)), least, most);
  }
  template <class E>
  E any() {
    const auto& all = NamesOf<E>::all;
    return all[static_cast<std::size_t>(from(0, static_cast<std::int64_t>(all.size()) - 1))].value;
  }

  /// Any values that the fields may have, even if they do not go together.
  Config config() {
    switch (any<Strategy>()) {
      case strategy_of<Sequential>():
        return Sequential{.comm_ctas = number(0, 65535), .transport = any<Transport>()};
      case strategy_of<Chunked>():
        return Chunked{.comm_ctas = number(0, 65535),
                       .chunks = number(1, 1 << 30),
                       .transport = any<Transport>()};
      case strategy_of<Signaled>():
        break;
      case strategy_of<Waiting>():
        return Waiting{.tile = tile(),
                       .swizzle = number(1, 1 << 30),
                       .transport = any<Transport>(),
                       .wave_groups = wave_groups()};
      case strategy_of<PeerStore>():
        return PeerStore{
            .tile = tile(), .swizzle = number(1, 1 << 30), .wave_groups = wave_groups()};
    }
    return Signaled{.tile = tile(),
                    .swizzle = number(1, 1 << 30),
                    .comm_ctas = number(0, 65535),
                    .transport = any<GroupTransports>(),
                    .wait = any<Wait>(),
                    .wave_groups = wave_groups()};
  }
  Tile tile() {
    return {number(1, 65536), number(1, 65536), number(1, 65536), number(1, 64), number(1, 2)};
  }
  std::vector<std::int64_t> wave_groups() {
    std::vector<std::int64_t> list;
    std::int64_t left = std::int64_t{1} << 62;  // the most tiles of all groups together
    for (auto groups = from(1, 200); groups > 0; --groups) {
      list.push_back(number(std::int64_t{1}, left - groups));
      left -= list.back();
    }
    return list;
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
  DrawnFields draw(1);
  Config read;  // the same for all lines: nothing of the line before may stay
  for (int i = 0; i < 20'000; ++i) {
    const Config config = draw.config();
    const std::string line = to_string(config);
    ASSERT_TRUE(read_canonical(line, read)) << line;
    ASSERT_EQ(read, config) << line;
  }
}

TEST(CanonicalConfig, another_line_is_refused_or_another_config) {
  DrawnFields draw(2);
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
  const std::string good = "signaled tile=128x256x64 stages=4 cluster=2 swizzle=8 ctas=16 ";
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
}

TEST(CanonicalConfig, a_line_with_anything_else_is_none) {
  Config read;
  const std::string tile = "signaled tile=128x256x64 stages=4 cluster=2 swizzle=8 ctas=16 ";
  for (const std::string& line :
       {std::string(),
        std::string("sequential"),
        std::string(" ctas=0 transport=ring"),
        std::string("peer_store ctas=0 transport=ring"),
        std::string("sequential tile=library ctas=0 transport=ring"),
        std::string("sequential tile=0x0x0 stages=0 cluster=0 swizzle=0 ctas=0 transport=ring"),
        std::string("sequential transport=ring ctas=0"),
        std::string("sequential ctas=0"),
        std::string("sequential ctas= transport=ring"),
        std::string("sequential ctas=-0 transport=ring"),
        std::string("sequential ctas=+1 transport=ring"),
        std::string("sequential ctas=00 transport=ring"),
        std::string("sequential ctas=65536 transport=ring"),
        std::string("sequential ctas=2147483648 transport=ring"),
        std::string("sequential ctas=0 transport=symmetric_then_ring"),
        std::string("sequential ctas=0 transport=ring chunks=2"),
        std::string("sequential ctas=0 transport=ring wait=kernel"),
        std::string("sequential ctas=0 transport=ring groups=1"),
        std::string("chunked ctas=8 transport=ring chunks=1"),
        std::string("chunked ctas=8 transport=ring chunks=02"),
        std::string("chunked ctas=8 chunks=2 transport=ring"),
        std::string("chunked ctas=8 transport=ring chunks=1073741825"),
        tile + "transport=ring",
        tile + "transport=ring groups=",
        tile + "transport=ring groups=1,",
        tile + "transport=ring groups=,1",
        tile + "transport=ring groups=0",
        tile + "transport=ring groups=1,,1",
        tile + "transport=ring groups=9223372036854775808",
        tile + "transport=ring groups=4611686018427387904,1",
        tile + "transport=ring groups=1 wait=kernel",
        tile + "transport=ring wait=us groups=1",
        std::string("signaled tile=0128x256x64 stages=4 cluster=2 swizzle=8 ctas=16 transport=ring "
                    "groups=1"),
        std::string("signaled tile=128x256 stages=4 cluster=2 swizzle=8 ctas=16 transport=ring "
                    "groups=1"),
        std::string("signaled tile=library stages=4 cluster=2 swizzle=8 ctas=16 transport=ring "
                    "groups=1"),
        std::string("signaled ctas=16 transport=ring groups=1")}) {
    EXPECT_FALSE(read_canonical(line, read)) << line;
  }
}

/// A caller that reads ten thousands of lines has one config for all of them.
TEST(CanonicalConfig, nothing_of_the_line_before_stays) {
  DrawnFields draw(3);
  Config read;
  for (int i = 0; i < 20'000; ++i) {
    (void)read_canonical(draw.damaged(to_string(draw.config())), read);
    const Config config = draw.config();
    ASSERT_TRUE(read_canonical(to_string(config), read));
    ASSERT_EQ(read, config);
  }
}

TEST(CanonicalConfig, wave_groups_keep_the_room_that_they_have) {
  const auto line = [](const std::string& groups) {
    return "signaled tile=128x256x64 stages=4 cluster=2 swizzle=8 ctas=16 transport=ring groups=" +
           groups;
  };
  Config read;
  ASSERT_TRUE(read_canonical(line("1,2,3,4,5,6,7,8"), read));
  const auto* const room = wave_groups_of(read)->data();
  ASSERT_TRUE(read_canonical(line("9,10,11"), read));
  EXPECT_EQ(wave_groups_of(read)->data(), room);
  EXPECT_EQ(*wave_groups_of(read), (std::vector<std::int64_t>{9, 10, 11}));
}

/// Reading and checking are two steps on purpose: a database says which field is wrong.
TEST(CanonicalConfig, whether_the_fields_go_together_is_not_judged) {
  Config read;
  ASSERT_TRUE(read_canonical("sequential ctas=0 transport=peer_access", read));
  EXPECT_FALSE(check(read));
  ASSERT_TRUE(read_canonical("chunked ctas=0 transport=ring", read));
  EXPECT_FALSE(check(read));
}

}  // namespace
}  // namespace overlaptune
