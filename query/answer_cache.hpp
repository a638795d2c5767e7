#pragma once
// A cache of answers that took a search.

#include <array>
#include <memory>
#include <mutex>
#include <unordered_map>

#include "query/answer.hpp"
#include "query/question_key.hpp"

namespace overlaptune {

/// A cache for any number of threads. Each key belongs to one of several parts, each with a lock,
/// which is held while a hash table is looked at and never during a search.
class AnswerCache {
 public:
  using Value = std::shared_ptr<const Expected<Answer>>;

  /// The answer for `key`, or why there is none; `make` makes it where it is not in the cache.
  /// Threads that ask for the same new key at once may each make it; all get the answer that was
  /// stored first.
  template <class Make>
  [[nodiscard]] Value get(const QuestionKey& key, const Make& make) {
    Part& part = parts_[(QuestionKeyHash{}(key) >> 32) % parts_.size()];
    {
      const std::lock_guard lock(part.mutex);
      if (const auto found = part.answers.find(key); found != part.answers.end()) {
        return found->second;
      }
    }
    const auto made = std::make_shared<const Expected<Answer>>(make());
    const std::lock_guard lock(part.mutex);
    if (part.answers.size() >= kMostAnswers / parts_.size()) part.answers.clear();
    return part.answers.emplace(key, made).first->second;
  }

 private:
  /// Limits the memory that a caller with ever new shapes can make the cache take to a few MB.
  static constexpr std::size_t kMostAnswers = 16384;

  struct alignas(64) Part {
    std::mutex mutex;
    std::unordered_map<QuestionKey, Value, QuestionKeyHash> answers;
  };
  std::array<Part, 16> parts_;
};

}  // namespace overlaptune
