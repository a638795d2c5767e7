#pragma once
// The fields of a config.json, each by any of the names that it has, and what its family has where
// the file leaves one out. Whatever is wrong is a `Failure`.

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "json/reader.hpp"

namespace overlaptune {

class ConfigFields {
 public:
  using Names = std::initializer_list<const char*>;

  /// `object` must outlive it. `defaults` is an object with the values of fields that are absent.
  explicit ConfigFields(const JsonReader& object,
                        nlohmann::json defaults = nlohmann::json::object());
  ConfigFields(const ConfigFields&) = delete;
  ConfigFields& operator=(const ConfigFields&) = delete;
  ConfigFields(ConfigFields&&) = delete;
  ConfigFields& operator=(ConfigFields&&) = delete;
  ~ConfigFields() = default;

  /// The value of the first name that is present and not null, else the default.
  [[nodiscard]] std::optional<std::int64_t> count_if_any(Names names, std::int64_t least = 1);
  [[nodiscard]] std::int64_t count(Names names);
  /// A number for each layer: the list at a name, or one number for all of them. Empty: absent.
  [[nodiscard]] std::vector<std::int64_t> by_layer(Names names, std::int64_t layers,
                                                   std::int64_t least = 1);
  /// The number that all layers have. Throws: a list in which they differ.
  [[nodiscard]] std::optional<std::int64_t> alike_if_any(Names names, std::int64_t layers,
                                                         std::int64_t least = 0);
  /// Fails where two of `names`, which mean one size, have different values.
  void expect_one_value(Names names) const;
  [[nodiscard]] std::optional<double> number_if_any(const char* name);
  [[nodiscard]] std::string text_if_any(Names names);
  [[nodiscard]] bool is_set(const char* name);
  [[nodiscard]] bool has(const char* name) { return find({name}).has_value(); }
  /// Whether the file has it, whatever the defaults are.
  [[nodiscard]] bool is_in_file(const char* name) const { return object_.has(name); }
  [[nodiscard]] std::optional<std::vector<std::int64_t>> numbers_if_any(Names names);
  [[nodiscard]] std::optional<std::vector<std::string>> texts_if_any(Names names);
  [[nodiscard]] bool is_list(const char* name);

  /// Names of fields that need not be read here, because others say the same or there are none.
  void know(Names names) { asked_.insert(names.begin(), names.end()); }
  void know_all(const std::vector<std::string>& names) {
    asked_.insert(names.begin(), names.end());
  }
  /// Whether the family has a value for a field that is absent.
  [[nodiscard]] bool has_default(const std::string& name) const {
    return default_values_.contains(name);
  }
  [[nodiscard]] bool was_asked(const std::string& name) const { return asked_.contains(name); }
  /// "head_dim = 256": what the defaults answered.
  [[nodiscard]] const std::vector<std::string>& defaults_used() const { return used_; }
  /// Notes a value that follows from other fields.
  void add_default(std::string text) { used_.push_back(std::move(text)); }
  [[noreturn]] void fail(const std::string& message) const { object_.fail(message); }
  /// Fails for want of a number at any of `names`.
  [[noreturn]] void fail_missing(Names names) const;
  /// Sets what stands behind each complaint about a missing number: why it may be missing.
  void explain_missing(std::string hint) { hint_ = std::move(hint); }
  [[nodiscard]] const std::string& why_missing() const { return hint_; }

 private:
  struct Found {
    std::string name;
    JsonReader value;
  };
  [[nodiscard]] std::optional<Found> find(Names names);

  const JsonReader& object_;
  nlohmann::json default_values_;
  JsonReader defaults_;
  std::set<std::string> asked_{};
  std::vector<std::string> used_{};
  std::string hint_{};
};

}  // namespace overlaptune
