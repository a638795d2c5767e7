#include "json/followed_fields.hpp"

#include <set>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace overlaptune {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestFollowed = 80;

class Follower : public nlohmann::json_sax<json> {
 public:
  bool null() override { return value(); }
  bool boolean(bool /*value*/) override { return value(); }
  bool number_integer(number_integer_t /*value*/) override { return value(); }
  bool number_unsigned(number_unsigned_t /*value*/) override { return value(); }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return value(); }
  bool string(string_t& /*value*/) override { return value(); }
  bool binary(binary_t& /*value*/) override { return value(); }

  bool start_array(std::size_t /*elements*/) override {
    value();
    open_.push_back({.is_array = true});
    return true;
  }
  bool start_object(std::size_t /*elements*/) override {
    value();
    open_.emplace_back();
    return true;
  }
  bool key(string_t& name) override {
    const bool is_new = open_.back().names.insert(name).second;
    open_.back().last = name;
    if (!is_new && found_.repeated.empty()) found_.repeated = path(true);
    return true;
  }
  bool end_array() override { return end(); }
  bool end_object() override { return end(); }
  bool parse_error(std::size_t /*position*/, const std::string& /*last_token*/,
                   const json::exception& /*error*/) override {
    found_.place = path(false);
    return false;
  }

  [[nodiscard]] FollowedFields found() && { return std::move(found_); }

 private:
  struct Open {
    bool is_array = false;
    std::size_t elements = 0;  ///< of an array, that were begun
    std::set<std::string> names{};
    std::string last{};  ///< the name that was read last
  };

  bool value() {
    if (!open_.empty()) ++open_.back().elements;
    return true;
  }
  bool end() {
    open_.pop_back();
    return true;
  }
  /// The way to the field that is read, up to about `kLongestFollowed` bytes of it.
  [[nodiscard]] std::string path(bool with_elements) const {
    std::string path;
    for (const Open& each : open_) {
      if (path.size() > kLongestFollowed) break;
      if (each.is_array && with_elements) path += fmt::format("[{}]", each.elements - 1);
      if (!each.names.empty()) path += (path.empty() ? "" : ".") + each.last;
    }
    return path;
  }

  std::vector<Open> open_{};  ///< from the outermost one to that which is read
  FollowedFields found_{};
};

}  // namespace

FollowedFields follow_fields(std::string_view text) {
  Follower follower;
  static_cast<void>(json::sax_parse(text, &follower));
  return std::move(follower).found();
}

}  // namespace overlaptune
