#include "json/why_no_json.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "core/base/printable.hpp"

namespace overlaptune {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

/// Texts that are no JSON from their first letter on.
constexpr std::pair<std::string_view, std::string_view> kBeginnings[] = {
    {"version https://git-lfs",
     "a pointer of Git LFS: expected the file itself: run `git lfs pull`"},
    {"<", "HTML or XML: expected JSON: was another page saved?"}};

/// Words and signs of other languages.
constexpr std::pair<std::string_view, std::string_view> kForeign[] = {
    {"//", "a comment: expected none, JSON has no comments"},
    {"/*", "a comment: expected none, JSON has no comments"},
    {"#", "a comment: expected none, JSON has no comments"},
    {"'", "a single quote: expected double quotes"},
    {"\xe2\x80\x9c", "a typographic quote: expected \""},
    {"\xe2\x80\x9d", "a typographic quote: expected \""},
    {"True", "True: expected true"},
    {"False", "False: expected false"},
    {"None", "None: expected null"},
    {"NaN", "numbers must be finite"},
    {"Infinity", "numbers must be finite"}};

/// The line and the column of the letter at `end`, and whether all before it is UTF-8.
struct Place {
  std::size_t line = 1;
  std::size_t column = 1;
  bool is_utf8 = true;
};

Place place_of(std::string_view text, std::size_t end) {
  Place place;
  for (std::size_t at = 0; at < end;) {
    const auto [bytes, code] = first_letter(text.substr(at));
    place.is_utf8 = place.is_utf8 && code.has_value();
    place.column = bytes == "\n" ? 1 : place.column + 1;
    place.line += bytes == "\n" ? 1 : 0;
    at += bytes.size();
  }
  return place;
}

std::string reason(std::string_view text, std::size_t at, bool is_utf8) {
  const std::size_t first = text.find_first_not_of(kBlanks);
  for (const auto& [beginning, what] : kBeginnings) {
    if (first != text.npos && text.substr(first).starts_with(beginning)) return std::string(what);
  }
  if (at >= text.size()) return "the text ends too soon: was it cut?";
  const std::string_view rest = text.substr(at);
  const auto [letter, code] = first_letter(rest);
  if (!is_utf8 || !code) return "not UTF-8 (Latin-1?): save it as UTF-8";
  for (const auto& [word, what] : kForeign) {
    if (rest.starts_with(word)) return std::string(what);
  }
  if (is_control(*code))
    return "a line end or a control character within quotes: expected its escape";
  const std::size_t before = text.substr(0, at).find_last_not_of(kBlanks);
  if ((letter == "}" || letter == "]") && before != text.npos && text[before] == ',') {
    return fmt::format("a comma before '{}': expected none behind the last one", letter);
  }
  const bool begins_value = letter.find_first_of("\"{[0123456789-") != letter.npos;
  return fmt::format("'{}' is not expected here{}", printable(letter),
                     begins_value ? ": is a comma or a colon missing before it?" : "");
}

}  // namespace

std::string why_no_json(std::string_view text, std::size_t byte) {
  const std::size_t at = std::min(text.size(), byte > 0 ? byte - 1 : 0);
  const Place place = place_of(text, at);
  return fmt::format("line {}, column {}: {}", place.line, place.column,
                     reason(text, at, place.is_utf8));
}

}  // namespace overlaptune
