#include "json/asked_fields.hpp"

#include <fmt/format.h>

#include "core/base/suggestion.hpp"
#include "json/reader.hpp"

namespace overlaptune {
namespace {

constexpr std::size_t kLongestName = 80;

}  // namespace

std::vector<std::string> AskedFields::complaints(const nlohmann::json& document) const {
  std::vector<std::string> list;
  complain(document, "", list);
  return list;
}

void AskedFields::complain(const nlohmann::json& value, const std::string& path,
                           std::vector<std::string>& list) const {
  if (value.is_array()) {
    std::size_t index = 0;
    for (const auto& element : value) complain(element, fmt::format("{}[{}]", path, index++), list);
  }
  const auto asked = asked_.find(&value);
  if (asked == asked_.end() || !value.is_object()) return;
  std::vector<std::string> absent;  // what a misspelled field may stand for
  for (const std::string& field : asked->second) {
    if (!value.contains(field)) absent.push_back(field);
  }
  for (const auto& [name, field] : value.items()) {
    const std::string place =
        fmt::format("{}{}{}", path, path.empty() ? "" : ".", one_line(name, kLongestName));
    if (asked->second.contains(name)) {
      complain(field, place, list);
    } else {
      list.push_back(place + ": not a field that is read" + did_you_mean(name, absent));
    }
  }
}

}  // namespace overlaptune
