#pragma once
// A cache of decoded winners, valid while the database does not change.

#include <optional>
#include <unordered_map>

#include "core/hash.hpp"
#include "db/freshness.hpp"
#include "db/store.hpp"

namespace overlaptune::db {

struct WinnerKey {
  PlatformId platform = 0;
  Problem problem{};
  Launch launch = Launch::graph;
  friend bool operator==(const WinnerKey&, const WinnerKey&) = default;
};

struct WinnerKeyHash {
  std::size_t operator()(const WinnerKey& key) const {
    std::uint64_t hash = static_cast<std::uint64_t>(key.platform);
    for (const std::int64_t part :
         {static_cast<std::int64_t>(key.problem.op), key.problem.m, key.problem.n, key.problem.k,
          static_cast<std::int64_t>(key.problem.elements), std::int64_t{key.problem.ranks},
          static_cast<std::int64_t>(key.launch)}) {
      hash = mix(hash ^ static_cast<std::uint64_t>(part));
    }
    return hash;
  }
};

class WinnerCache {
 public:
  using Answer = std::optional<StoredWinner>;

  /// The answer that was put under this stamp; null if there is none. A new stamp empties the
  /// cache.
  [[nodiscard]] const Answer* find(const WinnerKey& key, const Stamp& stamp) {
    if (stamp != stamp_) {
      answers_.clear();
      stamp_ = stamp;
      return nullptr;
    }
    const auto found = answers_.find(key);
    return found == answers_.end() ? nullptr : &found->second;
  }

  /// Keeps an answer under the stamp of the last `find`. The answer was read after it, so it is at
  /// least as new.
  void put(const WinnerKey& key, Answer answer) {
    if (answers_.size() >= kMostAnswers) answers_.clear();
    answers_.insert_or_assign(key, std::move(answer));
  }

 private:
  /// Limits the memory (to about 2 MB) if a caller asks for ever new shapes.
  static constexpr std::size_t kMostAnswers = 4096;

  Stamp stamp_{};
  std::unordered_map<WinnerKey, Answer, WinnerKeyHash> answers_;
};

}  // namespace overlaptune::db
