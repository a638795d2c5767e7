#include "json/parse.hpp"

#include <string>
#include <utility>
#include <vector>

#include "failure_of.hpp"

namespace overlaptune {
namespace {

std::string refused(std::string_view text) {
  return failure_of([&] { (void)parse_json(text, "a.json"); });
}

TEST(ParseJson, text_becomes_the_document_that_it_says) {
  const auto document = parse_json(R"({"a": [1, -2, 2.5, true, null, "µ"], "b": {}})", "a.json");
  EXPECT_EQ(document["a"][0], 1);
  EXPECT_EQ(document["a"][1], -2);
  EXPECT_EQ(document["a"][2], 2.5);
  EXPECT_EQ(document["a"][5], "\xc2\xb5");
  EXPECT_TRUE(document["b"].is_object());
  EXPECT_EQ(parse_json("18446744073709551615", "")[nlohmann::json::json_pointer()],
            18446744073709551615U);
}

TEST(ParseUniqueJson, a_field_stands_once_in_its_object) {
  const auto refused_for = [](std::string_view text) {
    return failure_of([&] { (void)parse_unique_json(text, "a.json"); });
  };
  const auto document =
      parse_unique_json(R"({"a": {"b": 1}, "b": [{"b": NaN}, {"b": "\"b\": b"}]})", "a.json");
  EXPECT_EQ(document["b"][0]["b"], "NaN");
  for (const auto& [text, path] : std::vector<std::pair<std::string_view, std::string>>{
           {R"({"a": 1, "b": 2, "b": 3})", "b"},
           {R"([{"b": {"b": 1}}, {"b": 1, "c": {}, "b": 1}])", "[1].b"},
           {R"({"b": Infinity, "\u0062": 1})", "b"},
           {R"({"c": [1, [], {"d": {"b": 1}, "e": [{}, {"b": [2], "b": 3}]}]})", "c[2].e[1].b"}}) {
    EXPECT_EQ(refused_for(text), "a.json: " + path + ": is there twice: expected each field once")
        << text;
  }
}

TEST(ParseJson, an_error_names_the_field_and_the_byte) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"", "a.json: not JSON near byte 1 "},
      {"nonsense", "a.json: not JSON near byte 2 "},
      {R"({"a": {"b": 1, "c": NaN}})", "a.json: a.c: not JSON near byte 21 "},
      {R"({"a": {"b": 1}, "c": [{"d": [1, -Infinity]}]})", "a.json: c.d: not JSON near byte 34 "},
      {R"({"a": {"b": 1} "c": 2})", "a.json: a: not JSON near byte 18 "},
      {R"([1, 2)", "a.json: not JSON near byte 6 "},
      {R"({"a": 1} x)", "a.json: not JSON near byte 10 "}};
  for (const auto& [text, beginning] : cases) {
    EXPECT_EQ(refused(text).substr(0, beginning.size()), beginning) << text;
  }
}

TEST(ParseJson, an_error_has_its_line_its_column_and_the_likely_reason) {
  const std::vector<std::pair<std::string, std::string>> cases{
      {"{\n \"a\": [1,\n  2,\n ]}", "(line 4, column 2: a comma before ']': expected none"},
      {"{\"a\": 1,\n}", "(line 2, column 1: a comma before '}'"},
      {"// c\n{}", "(line 1, column 1: a comment"},
      {"{\"a\": 1, # c\n\"b\": 2}", "(line 1, column 10: a comment"},
      {"{'a': 1}", "(line 1, column 2: a single quote: expected double quotes"},
      {"{\"a\": True}", "(line 1, column 7: True: expected true"},
      {"{\"a\": None}", "(line 1, column 7: None: expected null"},
      {"{\"a\": -Infinity}", "numbers must be finite)"},
      {"{\"\xc2\xb5\": NaN}", "(line 1, column 7: numbers must be finite)"},
      {"version https://git-lfs.github.com/spec/v1\noid sha256:abc\n", "a pointer of Git LFS"},
      {"\n<!DOCTYPE html><html></html>", "HTML or XML: expected JSON"},
      {"{\"a\": \"caf\xe9\"}", "not UTF-8 (Latin-1?): save it as UTF-8"},
      {"{\"a\": \"\xe9t\xe9\"}", "not UTF-8 (Latin-1?): save it as UTF-8"},
      {"{\xe2\x80\x9c"
       "a\xe2\x80\x9d: 1}",
       "(line 1, column 2: a typographic quote"},
      {"{\"a\": \"b\nc\"}", "(line 1, column 9: a line end or a control character"},
      {"{\"a\": [1, 2", "(line 1, column 12: the text ends too soon: was it cut?"},
      {"", "(line 1, column 1: the text ends too soon"},
      {"{\"a\": 1 \"b\": 2}", "'\"' is not expected here: is a comma or a colon missing"},
      {"{} x", "(line 1, column 4: 'x' is not expected here)"}};
  for (const auto& [text, reason] : cases) {
    EXPECT_NE(refused(text).find(reason), std::string::npos) << text << "\n" << refused(text);
  }
}

TEST(ParsePythonJson, an_error_is_where_the_text_has_it) {
  const auto refused_for = [](std::string_view text) {
    return failure_of([&] { (void)parse_python_json(text, "f"); });
  };
  for (const std::string before : {"", "NaN, ", "Infinity, -Infinity, NaN, "}) {
    const std::string text = "[" + before + "True]";
    const std::size_t byte = text.find('T') + 1;
    EXPECT_EQ(refused_for(text), "f: not JSON near byte " + std::to_string(byte) +
                                     " (line 1, column " + std::to_string(byte) +
                                     ": True: expected true)");
  }
}

TEST(ParseJson, numbers_must_fit) {
  EXPECT_EQ(refused(R"({"a": {"b": 1e999}})"), "a.json: a.b: a number too large to read");
  EXPECT_EQ(refused("[-1e999]"), "a.json: a number too large to read");
  // Numbers are read as by C's strtod: what is too small is 0, and what is too large for an integer
  // is a double.
  EXPECT_EQ(parse_json("1e-999", ""), 0.0);
  EXPECT_EQ(parse_json("100000000000000000000", ""), 1e20);
}

TEST(ParseJson, what_python_writes_for_numbers_that_are_not_finite_is_text) {
  const auto document =
      parse_python_json(R"({"a": [Infinity, -Infinity, NaN], "\\": "NaN \"Infinity", "b": 2})", "");
  EXPECT_EQ(document["a"], nlohmann::json({"Infinity", "-Infinity", "NaN"}));
  EXPECT_EQ(document["\\"], "NaN \"Infinity");
  EXPECT_EQ(document["b"], 2);
  EXPECT_EQ(failure_of([] { (void)parse_python_json(R"({"a": NaNa})", "f"); }).find("f: a: not"),
            0U);
}

TEST(ParseJson, text_that_is_not_utf8_is_refused) {
  EXPECT_EQ(refused("{\"a\": \"\xff\xfe\"}").find("a.json: a: not JSON near byte "), 0U);
  EXPECT_EQ(refused("\xff\xfe{}").find("a.json: not JSON near byte "), 0U);
  EXPECT_EQ(refused(std::string(3, '\0')).find("a.json: not JSON near byte "), 0U);
}

TEST(ParseJson, deep_nesting_overflows_no_stack) {
  constexpr std::size_t kDeep = 1'000'000;
  EXPECT_NE(refused(std::string(kDeep, '[')).find("not JSON"), std::string::npos);
  std::string objects;
  for (std::size_t i = 0; i < kDeep / 10; ++i) objects += R"({"a":)";
  const std::string message = refused(objects);
  EXPECT_NE(message.find("a.a.a."), std::string::npos);
  EXPECT_LT(message.size(), 200U);
  const auto deep = parse_json(std::string(kDeep, '[') + std::string(kDeep, ']'), "");
  EXPECT_TRUE(deep.is_array());
}

TEST(ParseJson, hostile_names_of_fields_leave_one_short_line) {
  const std::string message =
      refused("{\"a\\nb" + std::string(100'000, 'x') + "\": " + std::string("}"));
  EXPECT_EQ(message.find("a.json: a bxxx"), 0U);
  EXPECT_LT(message.size(), 200U);
}

TEST(ParseJson, text_that_is_too_large_is_refused_unread) {
  EXPECT_EQ(failure_of([] { (void)parse_json("[1, 2", "a.json", 4); }),
            "a.json: 5 bytes, expected at most 4");
  EXPECT_EQ(parse_json("[12]", "a.json", 4)[0], 12);
}

TEST(ParseJson, an_empty_origin_is_left_out) {
  EXPECT_EQ(failure_of([] { (void)parse_json("[", ""); }).find("not JSON near byte 2"), 0U);
}

}  // namespace
}  // namespace overlaptune
