#include "machine/cuda/wire/json_reader.hpp"

#include <cmath>

#include <fmt/format.h>

namespace overlaptune::cuda {

void JsonReader::fail(const std::string& message) const {
  throw Failure(ErrorKind::bad_input, path_ + ": " + message);
}

bool JsonReader::has(const char* field) const {
  if (!value_->is_object()) fail("expected an object");
  const auto found = value_->find(field);
  return found != value_->end() && !found->is_null();
}

JsonReader JsonReader::operator[](const char* field) const {
  if (!value_->is_object()) fail("expected an object");
  const auto found = value_->find(field);
  if (found == value_->end()) fail(fmt::format("field '{}' is missing", field));
  return {*found, path_ + "." + field};
}

std::int64_t JsonReader::integer(std::int64_t least, std::int64_t most) const {
  // Beyond the signed range the parser makes an unsigned number.
  const bool fits =
      value_->is_number_integer() &&
      (!value_->is_number_unsigned() ||
       value_->get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  if (!fits || value_->get<std::int64_t>() < least || value_->get<std::int64_t>() > most) {
    fail(fmt::format("expected a whole number from {} to {}", least, most));
  }
  return value_->get<std::int64_t>();
}

int JsonReader::small(int least, int most) const {
  return static_cast<int>(integer(least, most));
}

std::uint64_t JsonReader::seed() const {
  if (!value_->is_number_unsigned()) fail("expected a whole number from 0 to 2^64 - 1");
  return value_->get<std::uint64_t>();
}

double JsonReader::real() const {
  if (!value_->is_number() || !std::isfinite(value_->get<double>())) {
    fail("expected a finite number");
  }
  return value_->get<double>();
}

bool JsonReader::boolean() const {
  if (!value_->is_boolean()) fail("expected true or false");
  return value_->get<bool>();
}

std::string JsonReader::text() const {
  if (!value_->is_string()) fail("expected text");
  return value_->get<std::string>();
}

}  // namespace overlaptune::cuda
