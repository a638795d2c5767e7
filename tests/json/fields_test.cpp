#include "json/fields.hpp"

#include "core/problem.hpp"
#include "failure_of.hpp"
#include "json/parse.hpp"

namespace overlaptune {
namespace {

using Ordered = nlohmann::ordered_json;

struct Part {
  int first = 0;
  Bytes second{};
  friend bool operator==(const Part&, const Part&) = default;
};
struct Circle {
  double radius = 0;
  friend bool operator==(const Circle&, const Circle&) = default;
};
struct Nothing {
  friend bool operator==(const Nothing&, const Nothing&) = default;
};
using Shape = std::variant<Nothing, Circle, Part>;

struct Whole {
  std::int64_t size = 0;
  std::uint64_t seed = 0;
  bool good = false;
  std::string text{};
  Launch launch = Launch::graph;
  Microseconds time{};
  std::optional<int> rank{};
  std::optional<double> clock{};
  std::vector<Microseconds> times{};
  Part inner{};
  Part among{};
  std::optional<Part> perhaps{};
  std::optional<Part> missing{};
  std::vector<Part> parts{};
  friend bool operator==(const Whole&, const Whole&) = default;
};

constexpr std::tuple kPartFields{Field{"first", &Part::first}, Field{"second", &Part::second}};
constexpr Object kPart(kPartFields);
constexpr Object kWhole(Field{"size", &Whole::size}, Field{"seed", &Whole::seed},
                        Field{"good", &Whole::good}, Field{"text", &Whole::text},
                        Field{"launch", &Whole::launch}, Field{"time_us", &Whole::time},
                        Field{"rank", &Whole::rank}, left_out("clock", &Whole::clock),
                        Field{"times_us", &Whole::times}, field("inner", &Whole::inner, kPart),
                        spliced(&Whole::among, kPart), field("perhaps", &Whole::perhaps, kPart),
                        left_out("missing", &Whole::missing, kPart),
                        field("parts", &Whole::parts, kPart));

/// By hand what the forms are to write.
constexpr const char* kFull =
    R"({"size":-3,"seed":18446744073709551615,"good":true,"text":"t","launch":"eager",)"
    R"("time_us":2.5,"rank":7,"clock":1.5,"times_us":[1.0,2.0],"inner":{"first":1,"second":2},)"
    R"("first":3,"second":4,"perhaps":{"first":5,"second":6},"missing":{"first":7,"second":8},)"
    R"("parts":[{"first":9,"second":10}]})";
constexpr const char* kEmpty =
    R"({"size":0,"seed":0,"good":false,"text":"","launch":"graph","time_us":0.0,"rank":null,)"
    R"("times_us":[],"inner":{"first":0,"second":0},"first":0,"second":0,"perhaps":null,)"
    R"("parts":[]})";

Whole full() {
  return {.size = 3,
          .seed = 18446744073709551615U,
          .good = true,
          .text = "t",
          .launch = Launch::eager,
          .time = us(2.5),
          .rank = 7,
          .clock = 1.5,
          .times = {us(1), us(2)},
          .inner = {1, {2}},
          .among = {3, {4}},
          .perhaps = Part{5, {6}},
          .missing = Part{7, {8}},
          .parts = {{9, {10}}}};
}

Whole read(const std::string& text) {
  const auto document = parse_json(text, "");
  const JsonReader root(document);
  return read_as<Whole>(kWhole, root);
}

TEST(Fields, an_object_has_its_fields_in_their_order) {
  std::string expected = kFull;
  expected.replace(expected.find("-3"), 2, "3");
  EXPECT_EQ(kWhole.write<Ordered>(full()).dump(), expected);
  EXPECT_EQ(kWhole.write<Ordered>(Whole{}).dump(), kEmpty);
  EXPECT_EQ(kWhole.write<nlohmann::json>(full()), nlohmann::json::parse(expected));
}

TEST(Fields, what_was_written_is_read) {
  for (const Whole& whole : {full(), Whole{}}) {
    EXPECT_EQ(read(kWhole.write<Ordered>(whole).dump()), whole);
  }
}

TEST(Fields, reading_leaves_nothing_of_what_was_there) {
  const auto document = parse_json(kEmpty, "");
  const JsonReader root(document);
  Whole whole = full();
  kWhole.read(root, whole);
  EXPECT_EQ(whole, Whole{});
}

TEST(Fields, errors_name_the_place) {
  const auto refused = [](const std::string& pointer, const nlohmann::json& value) {
    auto document = nlohmann::json::parse(kWhole.write<Ordered>(full()).dump());
    document[nlohmann::json::json_pointer(pointer)] = value;
    return failure_of([&] { (void)read(document.dump()); });
  };
  EXPECT_EQ(failure_of([] { (void)read(kFull); }).find("size: expected a whole number"), 0U);
  EXPECT_EQ(refused("/times_us/1", "x"), "times_us[1]: expected a number, found \"x\"");
  EXPECT_EQ(refused("/inner/first", nullptr).find("inner.first: expected a whole"), 0U);
  EXPECT_EQ(refused("/second", -1).find("second: expected a whole number"), 0U);
  EXPECT_EQ(refused("/missing", 3), "missing: expected an object, found 3");
  EXPECT_EQ(refused("/parts/0/second", true).find("parts[0].second: expected a whole"), 0U);
  EXPECT_EQ(
      refused("/launch", "late"),
      "launch: launch 'late': expected one of graph, eager, exclusive_graph, exclusive_eager");
}

TEST(Fields, only_what_may_be_left_out_may_be_missing) {
  const auto whole = nlohmann::json::parse(kEmpty);
  for (const auto& [name, value] : whole.items()) {
    auto document = whole;
    document.erase(name);
    EXPECT_EQ(failure_of([&] { (void)read(document.dump()); }), name + ": missing");
  }
}

TEST(Fields, an_alternative_has_its_name_and_form) {
  constexpr std::tuple kShapes{alternative<Circle>("circle", Object(Field{"r", &Circle::radius})),
                               alternative<Part>("part", kPart)};
  for (const Shape& shape : {Shape(Circle{2.5}), Shape(Part{1, {2}})}) {
    Ordered written = Ordered::object();
    visit_alternative(kShapes, shape, [&](auto name, const auto& form, const auto& value) {
      written[std::string(name)] = form.template write<Ordered>(value);
    });
    EXPECT_EQ(written.size(), 1U);
    const auto document = parse_json(written.dump(), "");
    const JsonReader root(document);
    const auto place = [&](std::string_view name) {
      return root.has(name) ? std::optional(root[name]) : std::nullopt;
    };
    Shape read;
    EXPECT_TRUE(read_alternative(kShapes, read, place));
    EXPECT_EQ(read, shape);
    const auto nowhere = [](std::string_view) { return std::optional<JsonReader>(); };
    EXPECT_FALSE(read_alternative(kShapes, read, nowhere));
  }
  visit_alternative(kShapes, Shape(Nothing{}), [](auto, const auto&, const auto&) { FAIL(); });
}

}  // namespace
}  // namespace overlaptune
