#include "json/reader.hpp"

#include <cmath>

#include <fmt/format.h>

#include "json/asked_fields.hpp"

namespace overlaptune {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestMessage = 400;
constexpr std::size_t kLongestValue = 40;

bool is_finite_number(const json& value) {
  return value.is_number() && std::isfinite(value.get<double>());
}

}  // namespace

std::string one_line(std::string_view text, std::size_t most) {
  const bool is_long = text.size() > most;
  if (is_long) {
    const auto continues = [&] {
      return (static_cast<unsigned char>(text[most]) & 0xC0U) == 0x80U;
    };
    while (most > 0 && continues()) --most;  // no character of UTF-8 is cut
    text = text.substr(0, most);
  }
  std::string line(text);
  for (char& c : line) {
    if (static_cast<unsigned char>(c) < ' ') c = ' ';
  }
  return is_long ? line + "..." : line;
}

JsonReader JsonReader::operator[](std::string_view field) const& {
  const auto found = object().find(field);
  if (asked_ != nullptr) asked_->add(value_, field);
  if (found == value_.end()) JsonReader(value_, this, field, 0).fail("missing");
  return JsonReader(*found, this, field, 0);
}

bool JsonReader::has(std::string_view field) const {
  const auto found = object().find(field);
  if (asked_ != nullptr) asked_->add(value_, field);
  return found != value_.end() && !found->is_null();
}

std::vector<std::string> JsonReader::field_names() const {
  std::vector<std::string> names;
  for (const auto& [name, value] : object().items()) {
    if (asked_ != nullptr) asked_->add(value_, name);
    names.push_back(name);
  }
  return names;
}

bool JsonReader::is_integer(std::int64_t least, std::int64_t most) const {
  if (!value_.is_number_integer()) return false;
  // Integers beyond the signed range are unsigned.
  if (value_.is_number_unsigned() &&
      value_.get<std::uint64_t>() > std::uint64_t{std::numeric_limits<std::int64_t>::max()}) {
    return false;
  }
  const auto value = value_.get<std::int64_t>();
  return value >= least && value <= most;
}

std::int64_t JsonReader::integer(std::int64_t least, std::int64_t most) const {
  if (!is_integer(least, most)) {
    fail_expecting(fmt::format("a whole number from {} to {}", least, most));
  }
  return value_.get<std::int64_t>();
}

int JsonReader::small(int least, int most) const {
  return static_cast<int>(integer(least, most));
}

std::uint64_t JsonReader::seed() const {
  if (!value_.is_number_unsigned()) fail_expecting("a whole number from 0 to 2^64 - 1");
  return value_.get<std::uint64_t>();
}

double JsonReader::number() const {
  if (!is_finite_number(value_)) fail_expecting("a number");
  return value_.get<double>();
}

double JsonReader::number(double least, double most) const {
  if (!is_finite_number(value_) || value_.get<double>() < least || value_.get<double>() > most) {
    fail_expecting(fmt::format("a number from {:g} to {:g}", least, most));
  }
  return value_.get<double>();
}

bool JsonReader::boolean() const {
  if (!value_.is_boolean()) fail_expecting("true or false");
  return value_.get<bool>();
}

std::string JsonReader::text() const {
  if (!value_.is_string()) fail_expecting("text");
  return value_.get<std::string>();
}

std::string JsonReader::shown() const {
  if (value_.is_structured()) return value_.type_name();
  return one_line(value_.dump(-1, ' ', true, json::error_handler_t::replace), kLongestValue);
}

void JsonReader::fail(std::string_view message) const {
  const JsonReader* document = this;
  while (document->parent_ != nullptr) document = document->parent_;
  const std::string_view origin = document->name_;
  const std::string place = path();
  throw Failure(ErrorKind::bad_input,
                fmt::format("{}{}{}{}", origin, origin.empty() ? "" : ": ",
                            place.empty() ? "" : place + ": ", one_line(message, kLongestMessage)));
}

void JsonReader::fail_expecting(std::string_view what) const {
  fail(fmt::format("expected {}, found {}", what, shown()));
}

const json& JsonReader::array() const {
  if (!value_.is_array()) fail_expecting("an array");
  return value_;
}

const json& JsonReader::object() const {
  if (!value_.is_object()) fail_expecting("an object");
  return value_;
}

std::string JsonReader::path() const {
  if (parent_ == nullptr) return {};
  const std::string above = parent_->path();
  if (name_.empty()) return fmt::format("{}[{}]", above, index_);
  return above.empty() ? std::string(name_) : fmt::format("{}.{}", above, name_);
}

}  // namespace overlaptune
