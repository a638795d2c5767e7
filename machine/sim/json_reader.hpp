#pragma once
// Reads a JSON document field by field; whatever is missing, of the wrong type or out of range is a
// `Failure` (bad_input) of one line that names the path.

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "machine/sim/profile.hpp"

namespace overlaptune::sim {

/// Larger files are refused before they are parsed.
inline constexpr std::size_t kLargestProfile = 1 << 20;

[[nodiscard]] nlohmann::json parse_json(std::string_view text, std::string_view origin);

/// One object or array element of a document. A *value* field is {"value": ..., "source": "..."}:
/// the source says where the value comes from and must not be empty.
class JsonReader {
 public:
  JsonReader(const nlohmann::json& json, std::string origin, std::string path)
      : json_(&json), origin_(std::move(origin)), path_(std::move(path)) {}

  [[nodiscard]] JsonReader object(std::string_view key) const;
  /// The elements of a non-empty array.
  [[nodiscard]] std::vector<JsonReader> list(std::string_view key) const;

  [[nodiscard]] double number(std::string_view key, double least, double most) const;
  [[nodiscard]] int integer(std::string_view key, int least, int most) const;
  [[nodiscard]] std::string text(std::string_view key) const;
  /// A string without a source: names and descriptions.
  [[nodiscard]] std::string plain_text(std::string_view key) const;
  /// This element itself, an array of `count` integers.
  [[nodiscard]] std::vector<int> integers(std::size_t count, int least, int most) const;
  /// A value that is an array of [bytes, value] pairs, bytes ascending.
  [[nodiscard]] Curve curve(std::string_view key, double least, double most) const;

  template <class E>
  [[nodiscard]] E name(std::string_view key) const {
    const auto parsed = parse_name<E>(plain_text(key));
    if (!parsed) fail_at(key, parsed.error().message);
    return *parsed;
  }

  [[noreturn]] void fail(const std::string& message) const;

 private:
  [[noreturn]] void fail_at(std::string_view key, const std::string& message) const;
  [[nodiscard]] const nlohmann::json& field(std::string_view key) const;
  [[nodiscard]] const nlohmann::json& value(std::string_view key) const;
  [[nodiscard]] std::string below(std::string_view key) const;

  const nlohmann::json* json_;
  std::string origin_;
  std::string path_;
};

}  // namespace overlaptune::sim
