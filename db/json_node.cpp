#include "db/json_node.hpp"

#include <fmt/format.h>

namespace overlaptune::db {

Node Node::operator[](std::string_view field) const {
  if (!value_.is_object()) fail("expected an object");
  const auto found = value_.find(field);
  if (found == value_.end()) fail(fmt::format("field '{}' is missing", field));
  return Node(*found, this, field, 0);
}

bool Node::has(std::string_view field) const {
  if (!value_.is_object()) fail("expected an object");
  return value_.contains(field);
}

std::int64_t Node::integer(std::int64_t low, std::int64_t high) const {
  const bool beyond =
      value_.is_number_unsigned() && value_.get<std::uint64_t>() > static_cast<std::uint64_t>(high);
  if (!value_.is_number_integer() || beyond || value_.get<std::int64_t>() < low ||
      value_.get<std::int64_t>() > high) {
    fail(fmt::format("expected an integer from {} to {}", low, high));
  }
  return value_.get<std::int64_t>();
}

int Node::small_integer() const {
  return static_cast<int>(integer(0, std::numeric_limits<int>::max()));
}

std::uint64_t Node::seed() const {
  if (!value_.is_number_unsigned()) fail("expected an integer from 0 to 2^64 - 1");
  return value_.get<std::uint64_t>();
}

double Node::real() const {
  if (!value_.is_number()) fail("expected a number");
  return value_.get<double>();
}

bool Node::boolean() const {
  if (!value_.is_boolean()) fail("expected true or false");
  return value_.get<bool>();
}

std::string Node::text() const {
  if (!value_.is_string()) fail("expected text");
  return value_.get<std::string>();
}

void Node::fail(std::string_view expected) const {
  throw Failure(ErrorKind::bad_input, fmt::format("{}: {}", path(), expected));
}

std::string Node::path() const {
  if (parent_ == nullptr) return "document";
  const std::string above = parent_->parent_ == nullptr ? "" : parent_->path();
  if (field_.empty()) return fmt::format("{}[{}]", above, index_);
  return above.empty() ? std::string(field_) : fmt::format("{}.{}", above, field_);
}

}  // namespace overlaptune::db
