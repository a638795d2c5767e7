#pragma once
// A place in a line of JSON that another process wrote. Whatever is not as expected is a `Failure`
// (bad_input) of one line that names the place: "run.configs[3].chunks: expected ...".

#include <cstdint>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "core/names.hpp"

namespace overlaptune::cuda {

class JsonReader {
 public:
  JsonReader(const nlohmann::json& value, std::string path)
      : value_(&value), path_(std::move(path)) {}

  /// Throws: not an object, or no such field.
  [[nodiscard]] JsonReader operator[](const char* field) const;
  /// Whether the field is there and not null. Throws: not an object.
  [[nodiscard]] bool has(const char* field) const;

  [[nodiscard]] std::int64_t integer(
      std::int64_t least = 0, std::int64_t most = std::numeric_limits<std::int64_t>::max()) const;
  [[nodiscard]] int small(int least = 0, int most = std::numeric_limits<int>::max()) const;
  [[nodiscard]] std::uint64_t seed() const;
  [[nodiscard]] double real() const;  ///< finite
  [[nodiscard]] bool boolean() const;
  [[nodiscard]] std::string text() const;

  template <class E>
  [[nodiscard]] E name() const {
    const auto parsed = parse_name<E>(text());
    if (!parsed) fail(parsed.error().message);
    return *parsed;
  }

  /// What `read` makes of each element. Throws: not an array.
  template <class F>
  [[nodiscard]] auto list(F read) const {
    if (!value_->is_array()) fail("expected an array");
    std::vector<decltype(read(*this))> values;
    values.reserve(value_->size());
    for (const nlohmann::json& element : *value_) {
      values.push_back(
          read(JsonReader(element, path_ + "[" + std::to_string(values.size()) + "]")));
    }
    return values;
  }

  [[noreturn]] void fail(const std::string& message) const;

 private:
  const nlohmann::json* value_;
  std::string path_;
};

}  // namespace overlaptune::cuda
