#include "json/reader.hpp"

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "core/problem.hpp"
#include "failure_of.hpp"
#include "json/asked_fields.hpp"
#include "json/parse.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;

/// The message where `read` is called with a reader of the field "a" of {"a": text}.
template <class F>
std::string refused_by(const std::string& text, F&& read) {
  const json document = parse_json(R"({"a": )" + text + "}", "");
  const JsonReader root(document, "a.json");
  const JsonReader field = root["a"];
  return failure_of([&] { (void)read(field); });
}

TEST(JsonReader, a_path_leads_from_the_document_to_the_place) {
  const json document = parse_json(R"({"runs": [{}, {"probes": [[1, 2], [3, "x"]]}]})", "");
  std::vector<std::string> messages;
  for (const char* origin : {"a.json", ""}) {
    const JsonReader root(document, origin);
    const JsonReader runs = root["runs"];
    runs.each([&](const JsonReader& run) {
      if (!run.has("probes")) return;
      const JsonReader probes = run["probes"];
      messages.push_back(failure_of([&] {
        (void)probes.list(
            [](const JsonReader& row) { return row.list([](auto& n) { return n.small(); }); });
      }));
      messages.push_back(failure_of([&] { (void)run["time"]; }));
    });
    messages.push_back(failure_of([&] { root.fail("all is wrong"); }));
  }
  const std::string number = "expected a whole number from 0 to 2147483647, found \"x\"";
  EXPECT_EQ(messages,
            (std::vector<std::string>{"a.json: runs[1].probes[1][1]: " + number,
                                      "a.json: runs[1].time: missing", "a.json: all is wrong",
                                      "runs[1].probes[1][1]: " + number, "runs[1].time: missing",
                                      "all is wrong"}));
}

TEST(JsonReader, values_are_read_as_they_are) {
  const json document = parse_json(
      R"({"i": -7, "s": 18446744073709551615, "n": 2.5, "b": true, "t": "µ\n", "e": "eager",
          "l": [3, 4], "z": null})",
      "");
  const JsonReader root(document);
  EXPECT_EQ(root["i"].integer(-7, -7), -7);
  EXPECT_EQ(root["i"].small(-10, 0), -7);
  EXPECT_EQ(root["i"].number(), -7);
  EXPECT_EQ(root["s"].seed(), std::numeric_limits<std::uint64_t>::max());
  EXPECT_EQ(root["n"].number(2.5, 2.5), 2.5);
  EXPECT_TRUE(root["b"].boolean());
  EXPECT_EQ(root["t"].text(), "\xc2\xb5\n");
  EXPECT_EQ(root["e"].name<Launch>(), Launch::eager);
  EXPECT_EQ(root["l"].list([](const JsonReader& at) { return at.small(); }),
            (std::vector<int>{3, 4}));
  EXPECT_TRUE(root["z"].is_null());
  EXPECT_TRUE(root.is_object());
}

TEST(JsonReader, a_field_that_is_null_is_not_there) {
  const json document = parse_json(R"({"a": null, "b": 0})", "");
  const JsonReader root(document);
  EXPECT_FALSE(root.has("a"));
  EXPECT_TRUE(root.has("b"));
  EXPECT_FALSE(root.has("c"));
  EXPECT_TRUE(root["a"].is_null());
}

TEST(JsonReader, the_names_of_all_fields_count_as_asked_for) {
  const json document = parse_json(R"({"b": {"c": 1}, "a": null})", "");
  AskedFields asked;
  const JsonReader root(document, "", &asked);
  EXPECT_EQ(asked.complaints(document), std::vector<std::string>{});
  EXPECT_FALSE(root.has("c"));
  EXPECT_EQ(asked.complaints(document).size(), 2U);
  EXPECT_EQ(root.field_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(asked.complaints(document), std::vector<std::string>{});
  EXPECT_EQ(refused_by("[]", [](auto& at) { return at.field_names(); }),
            "a.json: a: expected an object, found array");
}

TEST(JsonReader, integers_are_whole_and_in_range) {
  const auto digit = [](const JsonReader& at) { return at.integer(0, 9); };
  const std::string expected = "a.json: a: expected a whole number from 0 to 9, found ";
  for (const std::string found :
       {"-1", "10", "2.5", "2.0", "1e30", "9223372036854775808", "18446744073709551615",
        "-9223372036854775808", "\"3\"", "true", "null"}) {
    EXPECT_EQ(refused_by(found, digit).find(expected), 0U) << refused_by(found, digit);
  }
  EXPECT_EQ(refused_by("[3]", digit), expected + "array");
  EXPECT_EQ(refused_by("{}", digit), expected + "object");
  const auto any = [](const JsonReader& at) { return at.integer(); };
  EXPECT_EQ(refused_by("9223372036854775808", any),
            "a.json: a: expected a whole number from 0 to 9223372036854775807, found "
            "9223372036854775808");
  EXPECT_NE(refused_by("2147483648", [](auto& at) { return at.small(); }), "");
  EXPECT_NE(refused_by("-1", [](auto& at) { return at.seed(); }), "");
  EXPECT_NE(refused_by("18446744073709551616", [](auto& at) { return at.seed(); }), "");
}

TEST(JsonReader, numbers_are_finite_and_in_range) {
  const auto share = [](const JsonReader& at) { return at.number(0, 1e6); };
  EXPECT_EQ(refused_by("-0.5", share), "a.json: a: expected a number from 0 to 1e+06, found -0.5");
  EXPECT_EQ(refused_by("\"NaN\"", share),
            "a.json: a: expected a number from 0 to 1e+06, found \"NaN\"");
  EXPECT_EQ(refused_by("null", [](auto& at) { return at.number(); }),
            "a.json: a: expected a number, found null");
  // No text has these, but a document that was made otherwise may.
  for (const double value : {std::nan(""), std::numeric_limits<double>::infinity()}) {
    const json document = value;
    const JsonReader root(document);
    EXPECT_EQ(failure_of([&] { (void)root.number(); }).find("expected a number"), 0U);
    EXPECT_EQ(failure_of([&] { (void)root.number(0, 1); }).find("expected a number"), 0U);
  }
}

TEST(JsonReader, other_types_are_named_as_they_were_found) {
  EXPECT_EQ(refused_by("1", [](auto& at) { return at.boolean(); }),
            "a.json: a: expected true or false, found 1");
  EXPECT_EQ(refused_by("[]", [](auto& at) { return at.text(); }),
            "a.json: a: expected text, found array");
  EXPECT_EQ(refused_by("\"x\"", [](auto& at) { return at["b"].is_null(); }),
            "a.json: a: expected an object, found \"x\"");
  EXPECT_EQ(refused_by("[1]", [](auto& at) { return at.has("b"); }),
            "a.json: a: expected an object, found array");
  EXPECT_EQ(refused_by("{}",
                       [](auto& at) {
                         at.each([](auto&) {});
                         return 0;
                       }),
            "a.json: a: expected an array, found object");
  EXPECT_EQ(
      refused_by("\"both\"", [](auto& at) { return at.template name<Launch>(); }),
      "a.json: a: launch 'both': expected one of graph, eager, exclusive_graph, exclusive_eager");
}

TEST(JsonReader, a_message_is_one_line_whatever_was_found) {
  const std::string hostile = "\"\\n\\u0000" + std::string(100'000, 'x') + "\"";
  const auto number = [](const JsonReader& at) { return at.number(); };
  EXPECT_LT(refused_by(hostile, number).size(), 100U);
  const auto launch = [](const JsonReader& at) { return at.name<Launch>(); };
  EXPECT_LT(refused_by(hostile, launch).size(), 500U);
  // In the middle of a character of two bytes.
  EXPECT_EQ(one_line("abc\xc2\xb5", 4), "abc...");
  EXPECT_EQ(one_line("abc\xc2\xb5", 5), "abc\xc2\xb5");
  EXPECT_EQ(one_line("a\nb\tc", 10), "a b c");
}

}  // namespace
}  // namespace overlaptune
