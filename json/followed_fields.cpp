#include "json/followed_fields.hpp"

#include <set>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

namespace overlaptune {
namespace {

using nlohmann::json;

constexpr std::size_t kLongestFollowed = 80;

class Follower : public nlohmann::json_sax<json> {
 public:
  bool null() override { return true; }
  bool boolean(bool /*value*/) override { return true; }
  bool number_integer(number_integer_t /*value*/) override { return true; }
  bool number_unsigned(number_unsigned_t /*value*/) override { return true; }
  bool number_float(number_float_t /*value*/, const string_t& /*text*/) override { return true; }
  bool string(string_t& /*value*/) override { return true; }
  bool binary(binary_t& /*value*/) override { return true; }
  bool start_array(std::size_t /*elements*/) override { return true; }
  bool end_array() override { return true; }

  bool start_object(std::size_t /*elements*/) override {
    open_.emplace_back();
    return true;
  }
  bool key(string_t& name) override {
    const bool is_new = open_.back().names.insert(name).second;
    if (!is_new && found_.repeated.empty()) found_.repeated = name;
    open_.back().last = name;
    return true;
  }
  bool end_object() override {
    open_.pop_back();
    return true;
  }
  bool parse_error(std::size_t /*position*/, const std::string& /*last_token*/,
                   const json::exception& /*error*/) override {
    for (const Object& object : open_) {
      if (found_.place.size() > kLongestFollowed || object.names.empty()) continue;
      found_.place += (found_.place.empty() ? "" : ".") + object.last;
    }
    return false;
  }

  [[nodiscard]] FollowedFields found() && { return std::move(found_); }

 private:
  struct Object {
    std::set<std::string> names{};
    std::string last{};  ///< the name that was read last
  };

  std::vector<Object> open_{};  ///< from the outermost one to that which is read
  FollowedFields found_{};
};

}  // namespace

FollowedFields follow_fields(std::string_view text) {
  Follower follower;
  static_cast<void>(json::sax_parse(text, &follower));
  return std::move(follower).found();
}

}  // namespace overlaptune
