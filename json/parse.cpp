#include "json/parse.hpp"

#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/error.hpp"
#include "json/reader.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestPlace = 80;

/// "gpu.sms.value: " for the field in which parsing ends with an error; empty where it has no name.
/// Text is parsed a second time for it: to follow the fields takes longer than to parse without.
std::string place_of_error(std::string_view text) {
  std::vector<std::pair<int, std::string>> open;  // fields, with how deep they are
  const auto close = [&](int depth) {
    while (!open.empty() && open.back().first >= depth) open.pop_back();
  };
  const auto follow = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key) {
      close(depth);
      open.emplace_back(depth, parsed.get<std::string>());
    } else if (event == json::parse_event_t::object_end) {
      close(depth + 1);
    }
    return true;
  };
  try {
    const json unused = json::parse(text, follow);
  } catch (const json::exception&) {
    // The error is known; its place is in `open`.
  }
  std::string place;
  for (const auto& [depth, name] : open) {
    if (place.size() > kLongestPlace) break;
    place += (place.empty() ? "" : ".") + name;
  }
  return place.empty() ? "" : one_line(place, kLongestPlace) + ": ";
}

}  // namespace

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

}  // namespace overlaptune
