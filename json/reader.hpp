#pragma once
// A place in a JSON document that somebody else wrote. Whatever is not as expected is a `Failure`
// (bad_input) of one line that names the place: "my.json: gpu.sms: expected …, found -3".

#include <cstdint>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/base/names.hpp"

namespace overlaptune {

class AskedFields;

/// Text as one line of at most about `most` bytes.
[[nodiscard]] std::string one_line(std::string_view text, std::size_t most);

/// A reader refers to the document, to the names that it was given, and to the reader it was made
/// from, all of which must outlive it. A path is only put together when there is something to
/// complain about.
class JsonReader {
 public:
  /// A whole document. `origin` (a file, "message") opens every message; it may be empty. `asked`
  /// remembers the fields that this reader, and those made from it, are asked for.
  explicit JsonReader(const nlohmann::json& document, std::string_view origin = {},
                      AskedFields* asked = nullptr)
      : value_(document), asked_(asked), name_(origin) {}

  /// Throws: not an object, or no such field.
  [[nodiscard]] JsonReader operator[](std::string_view field) const&;
  JsonReader operator[](std::string_view field) const&& = delete;  ///< its parent would be gone
  /// Whether the field is there and not null. Throws: not an object.
  [[nodiscard]] bool has(std::string_view field) const;

  /// The names of all fields, which count as asked for. Throws: not an object.
  [[nodiscard]] std::vector<std::string> field_names() const;

  /// Calls `visit` with a reader of each element. Throws: not an array.
  template <class F>
  void each(F&& visit) const {
    std::size_t index = 0;
    for (const nlohmann::json& element : array()) {
      const JsonReader at(element, this, {}, index++);
      visit(at);
    }
  }
  /// The results of `read` for each element. Throws: not an array.
  template <class F>
  [[nodiscard]] auto list(F&& read) const {
    std::vector<decltype(read(*this))> values;
    values.reserve(array().size());
    each([&](const JsonReader& element) { values.push_back(read(element)); });
    return values;
  }

  [[nodiscard]] bool is_null() const { return value_.is_null(); }
  [[nodiscard]] bool is_object() const { return value_.is_object(); }
  [[nodiscard]] bool is_array() const { return value_.is_array(); }
  [[nodiscard]] bool is_text() const { return value_.is_string(); }
  [[nodiscard]] bool is_integer(std::int64_t least, std::int64_t most) const;

  // Each throws where there is something else.
  [[nodiscard]] std::int64_t integer(
      std::int64_t least = 0, std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  [[nodiscard]] int small(int least = 0, int most = std::numeric_limits<int>::max()) const;
  [[nodiscard]] std::uint64_t seed() const;
  [[nodiscard]] double number() const;  ///< finite
  [[nodiscard]] double number(double least, double most) const;
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::string text() const;
  template <class E>
  [[nodiscard]] E name() const {
    const auto parsed = parse_name<E>(text());
    if (!parsed) fail(parsed.error().message);
    return *parsed;
  }

  /// The value, short enough for a message: `-3`, `"text"`, `array`.
  [[nodiscard]] std::string shown() const;
  /// Throws `message` with origin and path before it, as one line.
  [[noreturn]] void fail(std::string_view message) const;

 private:
  JsonReader(const nlohmann::json& value, const JsonReader* parent, std::string_view name,
             std::size_t index)
      : value_(value), parent_(parent), asked_(parent->asked_), name_(name), index_(index) {}
  [[nodiscard]] const nlohmann::json& array() const;
  [[nodiscard]] const nlohmann::json& object() const;
  [[nodiscard]] std::string path() const;
  [[noreturn]] void fail_expecting(std::string_view what) const;

  const nlohmann::json& value_;
  const JsonReader* parent_ = nullptr;
  AskedFields* asked_ = nullptr;
  std::string_view name_;  ///< of the field; of the document, its origin; empty for an element
  std::size_t index_ = 0;  ///< of an element
};

}  // namespace overlaptune
