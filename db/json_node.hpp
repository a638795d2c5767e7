#pragma once
// A place in a JSON document that somebody else wrote. Whatever is not as expected is a `Failure`
// of kind `bad_input` that names the place: "tuning_runs[3].candidates[0].config.chunks: …".

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "core/names.hpp"

namespace overlaptune::db {

/// Refers to its parent, so that a path is only put together when there is something to complain
/// about: `auto x = node["a"]["b"];` would refer to a parent that is gone.
class Node {
 public:
  explicit Node(const nlohmann::json& value) : value_(value) {}

  /// Error: not an object, or no such field.
  [[nodiscard]] Node operator[](std::string_view field) const;
  /// Whether there is such a field. Error: not an object.
  [[nodiscard]] bool has(std::string_view field) const;
  /// Error: not an array.
  template <class F>
  void each(F&& visit) const {
    if (!value_.is_array()) fail("expected an array");
    std::size_t index = 0;
    for (const auto& element : value_) visit(Node(element, this, {}, index++));
  }

  [[nodiscard]] bool is_null() const { return value_.is_null(); }
  [[nodiscard]] bool is_object() const { return value_.is_object(); }
  [[nodiscard]] std::int64_t integer(
      std::int64_t low = 0, std::int64_t high = std::numeric_limits<std::int64_t>::max()) const;
  [[nodiscard]] int small_integer() const;  ///< 0 to 2^31 - 1
  [[nodiscard]] std::uint64_t seed() const;
  [[nodiscard]] double real() const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::string text() const;
  template <class E>
  [[nodiscard]] E name() const {
    const auto parsed = parse_name<E>(text());
    if (!parsed) fail(parsed.error().message);
    return *parsed;
  }

  [[noreturn]] void fail(std::string_view expected) const;

 private:
  Node(const nlohmann::json& value, const Node* parent, std::string_view field, std::size_t index)
      : value_(value), parent_(parent), field_(field), index_(index) {}
  [[nodiscard]] std::string path() const;

  const nlohmann::json& value_;
  const Node* parent_ = nullptr;
  std::string_view field_{};
  std::size_t index_ = 0;
};

}  // namespace overlaptune::db
