#include "json/parse.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "json/followed_fields.hpp"
#include "json/reader.hpp"
#include "json/why_no_json.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestPlace = 80;

/// "gpu.sms.value: " for the field in which parsing ends with an error; empty where it has no name.
/// Text is parsed a second time for it: to follow the fields takes longer than to parse without.
std::string place_of_error(std::string_view text) {
  const std::string place = follow_fields(text).place;
  return place.empty() ? "" : one_line(place, kLongestPlace) + ": ";
}

/// The text with quotes around each number that is not finite, outside of strings.
std::string with_quoted_non_finite(std::string_view text) {
  constexpr std::string_view kNames[] = {"NaN", "Infinity", "-Infinity"};
  std::string quoted;
  quoted.reserve(text.size());
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    if (in_string && c == '\\' && at + 1 < text.size()) {
      quoted += c;
      quoted += text[++at];
      continue;
    }
    if (c == '"') in_string = !in_string;
    const auto* const name =
        in_string ? std::end(kNames)
                  : std::find_if(std::begin(kNames), std::end(kNames), [&](std::string_view each) {
                      return text.substr(at).starts_with(each);
                    });
    if (name == std::end(kNames)) {
      quoted += c;
      continue;
    }
    quoted += fmt::format("\"{}\"", *name);
    at += name->size() - 1;
  }
  return quoted;
}

/// The byte of `text` that is byte `byte` of `with_quoted_non_finite(text)`, both from 1.
std::size_t unquoted_byte(std::string_view text, std::size_t byte) {
  std::size_t least = 0;
  std::size_t most = text.size() + 1;
  while (least < most) {
    const std::size_t middle = least + (most - least) / 2;
    if (with_quoted_non_finite(text.substr(0, middle)).size() < byte) {
      least = middle + 1;
    } else {
      most = middle;
    }
  }
  return least;
}

Failure bad_json(std::string_view origin, std::string_view wrong) {
  return Failure(ErrorKind::bad_input,
                 fmt::format("{}{}{}", origin, origin.empty() ? "" : ": ", wrong));
}

/// Parses `text` in a form whose byte n is byte `original(n)` of it.
template <class Original>
json parse_form(const std::string_view form, std::string_view text, std::string_view origin,
                Original original) {
  try {
    return json::parse(form);
  } catch (const json::parse_error& error) {
    const std::size_t byte = original(error.byte);
    throw bad_json(origin, fmt::format("{}not JSON near byte {} ({})", place_of_error(form), byte,
                                       why_no_json(text, byte)));
  } catch (const json::exception&) {
    throw bad_json(origin, place_of_error(form) + "a number too large to read");
  }
}

}  // namespace

json parse_python_json(std::string_view text, std::string_view origin) {
  const bool finite =
      text.find("NaN") == std::string_view::npos && text.find("Infinity") == std::string_view::npos;
  if (finite) return parse_json(text, origin);
  return parse_form(with_quoted_non_finite(text), text, origin,
                    [&](std::size_t byte) { return unquoted_byte(text, byte); });
}

json parse_json(std::string_view text, std::string_view origin, std::size_t largest) {
  if (text.size() > largest) {
    throw bad_json(origin, fmt::format("{} bytes, expected at most {}", text.size(), largest));
  }
  return parse_form(text, text, origin, [](std::size_t byte) { return byte; });
}

json parse_unique_json(std::string_view text, std::string_view origin) {
  json document = parse_python_json(text, origin);
  const std::string repeated = follow_fields(with_quoted_non_finite(text)).repeated;
  if (!repeated.empty()) {
    throw bad_json(origin, fmt::format("{}: is there twice: expected each field once",
                                       one_line(repeated, kLongestPlace)));
  }
  return document;
}

}  // namespace overlaptune
