#pragma once
// The fields that a document was asked for, to find those that nobody reads.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace overlaptune {

/// A `JsonReader` fills it (its constructor takes one). It refers to the document.
class AskedFields {
 public:
  void add(const nlohmann::json& object, std::string_view field) { asked_[&object].emplace(field); }

  /// A complaint about each field that was never asked for, in an object that was asked for others:
  /// "gpu.smz: not a field that is read; did you mean 'sms'?"
  [[nodiscard]] std::vector<std::string> complaints(const nlohmann::json& document) const;

 private:
  void complain(const nlohmann::json& value, const std::string& path,
                std::vector<std::string>& list) const;

  std::map<const nlohmann::json*, std::set<std::string, std::less<>>> asked_{};
};

}  // namespace overlaptune
