#include "json/parse.hpp"

#include <algorithm>
#include <iterator>
#include <string>

#include <fmt/format.h>

#include "core/base/error.hpp"
#include "json/followed_fields.hpp"
#include "json/reader.hpp"

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

}  // namespace

json parse_python_json(std::string_view text, std::string_view origin) {
  const bool finite =
      text.find("NaN") == std::string_view::npos && text.find("Infinity") == std::string_view::npos;
  return finite ? parse_json(text, origin) : parse_json(with_quoted_non_finite(text), origin);
}

json parse_json(std::string_view text, std::string_view origin, std::size_t largest) {
  std::string wrong;
  try {
    if (text.size() <= largest) return json::parse(text);
    wrong = fmt::format("{} bytes, expected at most {}", text.size(), largest);
  } catch (const json::parse_error& error) {
    wrong = fmt::format("{}not JSON near byte {} (numbers must be finite)", place_of_error(text),
                        error.byte);
  } catch (const json::exception&) {
    wrong = place_of_error(text) + "a number too large to read";
  }
  throw Failure(ErrorKind::bad_input,
                fmt::format("{}{}{}", origin, origin.empty() ? "" : ": ", wrong));
}

json parse_unique_json(std::string_view text, std::string_view origin) {
  json document = parse_python_json(text, origin);
  const std::string repeated = follow_fields(with_quoted_non_finite(text)).repeated;
  if (!repeated.empty()) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("{}: {}: is there twice: expected each field once", origin,
                              one_line(repeated, kLongestPlace)));
  }
  return document;
}

}  // namespace overlaptune
