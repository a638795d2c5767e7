#pragma once
// Values that are made when they are first asked for. The latest ones are kept.

#include <cstddef>
#include <functional>
#include <list>
#include <unordered_map>
#include <utility>

namespace overlaptune::run {

/// At most `most` values are kept, and the one that was not used for longest goes first.
template <class Key, class Value, class Hash = std::hash<Key>>
class Latest {
 public:
  using Make = std::function<Value(const Key&)>;

  Latest(Make make, std::size_t most) : make_(std::move(make)), most_(most) {}

  /// The value is valid until the next call. Throws what making it throws; nothing is changed then.
  [[nodiscard]] Value& operator[](const Key& key) {
    if (const auto known = places_.find(key); known != places_.end()) {
      values_.splice(values_.begin(), values_, known->second);
      return known->second->second;
    }
    values_.emplace_front(key, make_(key));
    places_.emplace(key, values_.begin());
    if (values_.size() > most_) {
      places_.erase(values_.back().first);
      values_.pop_back();
    }
    return values_.front().second;
  }

  void clear() {
    places_.clear();
    values_.clear();
  }

  [[nodiscard]] std::size_t size() const { return values_.size(); }

 private:
  using Values = std::list<std::pair<Key, Value>>;

  Make make_;
  std::size_t most_;
  Values values_{};  ///< the last one that was used comes first
  std::unordered_map<Key, typename Values::iterator, Hash> places_{};
};

}  // namespace overlaptune::run
