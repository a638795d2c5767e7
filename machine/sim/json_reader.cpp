#include "machine/sim/json_reader.hpp"

#include <cmath>

#include <fmt/format.h>

namespace overlaptune::sim {
namespace {

using nlohmann::json;

/// What was found, short enough for one line.
std::string shown(const json& found) {
  std::string text = found.is_structured()
                         ? found.type_name()
                         : found.dump(-1, ' ', true, json::error_handler_t::replace);
  if (text.size() > 40) text = text.substr(0, 40) + "...";
  return text;
}

bool in_range(const json& found, double least, double most) {
  if (!found.is_number()) return false;
  const double value = found.get<double>();
  return std::isfinite(value) && value >= least && value <= most;
}

}  // namespace

json parse_json(std::string_view text, std::string_view origin) {
  if (text.size() > kLargestProfile) {
    throw Failure(ErrorKind::bad_input, fmt::format("{}: {} bytes, expected at most {}", origin,
                                                    text.size(), kLargestProfile));
  }
  std::vector<std::string> path;  // of the field that is being read
  const auto follow = [&](int depth, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::key) {
      path.resize(static_cast<std::size_t>(depth));
      path.back() = parsed.get<std::string>();
    }
    return true;
  };
  try {
    return json::parse(text, follow);
  } catch (const json::parse_error& error) {
    std::erase(path, "");  // what an array holds has no name
    const std::string field = fmt::format("{}", fmt::join(path, ".")).substr(0, 80);
    throw Failure(ErrorKind::bad_input,
                  fmt::format("{}: {}: not JSON near byte {} (numbers must be finite)", origin,
                              field.empty() ? "document" : field, error.byte));
  } catch (const json::exception&) {
    throw Failure(ErrorKind::bad_input,
                  fmt::format("{}: holds a number too large to read", origin));
  }
}

std::string JsonReader::below(std::string_view key) const {
  return path_.empty() ? std::string(key) : fmt::format("{}.{}", path_, key);
}

void JsonReader::fail(const std::string& message) const {
  throw Failure(ErrorKind::bad_input,
                fmt::format("{}: {}: {}", origin_, path_.empty() ? "document" : path_, message));
}

void JsonReader::fail_at(std::string_view key, const std::string& message) const {
  JsonReader(*json_, origin_, below(key)).fail(message);
}

const json& JsonReader::field(std::string_view key) const {
  if (!json_->is_object()) fail("expected an object, found " + shown(*json_));
  const auto found = json_->find(std::string(key));
  if (found == json_->end()) fail_at(key, "missing");
  return *found;
}

const json& JsonReader::value(std::string_view key) const {
  const JsonReader at(field(key), origin_, below(key));
  if (at.plain_text("source").empty()) at.fail_at("source", "expected where the value comes from");
  return at.field("value");
}

JsonReader JsonReader::object(std::string_view key) const {
  JsonReader at(field(key), origin_, below(key));
  if (!at.json_->is_object()) at.fail("expected an object, found " + shown(*at.json_));
  return at;
}

std::vector<JsonReader> JsonReader::list(std::string_view key) const {
  const json& found = field(key);
  if (!found.is_array() || found.empty()) {
    fail_at(key, "expected a list with at least one element, found " + shown(found));
  }
  std::vector<JsonReader> elements;
  for (std::size_t i = 0; i < found.size(); ++i) {
    elements.emplace_back(found[i], origin_, fmt::format("{}[{}]", below(key), i));
  }
  return elements;
}

double JsonReader::number(std::string_view key, double least, double most) const {
  const json& found = value(key);
  if (!in_range(found, least, most)) {
    fail_at(key, fmt::format("expected a number from {:g} to {:g}, found {}", least, most,
                             shown(found)));
  }
  return found.get<double>();
}

int JsonReader::integer(std::string_view key, int least, int most) const {
  const json& found = value(key);
  if (!found.is_number_integer() || !in_range(found, least, most)) {
    fail_at(key, fmt::format("expected a whole number from {} to {}, found {}", least, most,
                             shown(found)));
  }
  return found.get<int>();
}

std::string JsonReader::text(std::string_view key) const {
  const json& found = value(key);
  if (!found.is_string()) fail_at(key, "expected text, found " + shown(found));
  return found.get<std::string>();
}

std::string JsonReader::plain_text(std::string_view key) const {
  const json& found = field(key);
  if (!found.is_string()) fail_at(key, "expected text, found " + shown(found));
  return found.get<std::string>();
}

std::vector<int> JsonReader::integers(std::size_t count, int least, int most) const {
  bool good = json_->is_array() && json_->size() == count;
  if (good) {
    for (const json& element : *json_) {
      good = good && element.is_number_integer() && in_range(element, least, most);
    }
  }
  if (!good) fail(fmt::format("expected {} whole numbers from {} to {}", count, least, most));
  return json_->get<std::vector<int>>();
}

Curve JsonReader::curve(std::string_view key, double least, double most) const {
  const json& found = value(key);
  if (!found.is_array() || found.empty()) {
    fail_at(key, "expected [bytes, value] pairs, found " + shown(found));
  }
  Curve curve;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const json& pair = found[i];
    const std::string place = fmt::format("{}.value[{}]", key, i);
    if (!pair.is_array() || pair.size() != 2 || !in_range(pair[0], 1, 1e15) ||
        !in_range(pair[1], least, most)) {
      fail_at(place, fmt::format("expected [bytes, value] with a value from {:g} to {:g}, found {}",
                                 least, most, shown(pair)));
    }
    curve.bytes.push_back(pair[0].get<double>());
    curve.values.push_back(pair[1].get<double>());
    if (i > 0 && curve.bytes[i] <= curve.bytes[i - 1]) {
      fail_at(place, "expected more bytes than in the pair before");
    }
  }
  return curve;
}

}  // namespace overlaptune::sim
