#pragma once
// Launches of a generated GEMM that a plan keeps ready, because making one takes microseconds.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <span>
#include <unordered_map>
#include <utility>

#include "run/generated_kernel.hpp"
#include "run/plan.hpp"

namespace overlaptune::run {

/// One value for each set of operands, made when it is first asked for. At most `most` are kept,
/// and the one that was not used for longest goes first.
template <class Value>
class ByOperands {
 public:
  using Make = std::function<Value(const Operands&)>;

  ByOperands(Make make, std::size_t most) : make_(std::move(make)), most_(most) {}

  /// The value is valid until the next call.
  [[nodiscard]] const Value& operator[](const Operands& operands) {
    if (const auto known = places_.find(operands); known != places_.end()) {
      values_.splice(values_.begin(), values_, known->second);
      return known->second->second;
    }
    values_.emplace_front(operands, make_(operands));
    places_.emplace(operands, values_.begin());
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
  struct Hash {
    std::size_t operator()(const Operands& operands) const {
      std::uint64_t hash = 0;
      for (const void* each : {operands.a, operands.b, static_cast<const void*>(operands.c),
                               static_cast<const void*>(operands.workspace)}) {
        // Addresses differ in their middle bits.
        hash = (hash ^ reinterpret_cast<std::uintptr_t>(each)) * 0x9e3779b97f4a7c15ULL;
        hash ^= hash >> 32;
      }
      return static_cast<std::size_t>(hash);
    }
  };
  using Values = std::list<std::pair<Operands, Value>>;

  Make make_;
  std::size_t most_;
  Values values_{};  ///< the last one that was used comes first
  std::unordered_map<Operands, typename Values::iterator, Hash> places_{};
};

/// The launches of one plan.
class Launches {
 public:
  using Prepare = std::function<GeneratedLaunch(const Operands&)>;

  /// `first`: sets of operands whose launches are made now.
  Launches(std::span<const Operands> first, Prepare prepare)
      : launches_(std::move(prepare), kMost) {
    for (const Operands& operands : first) static_cast<void>(launches_[operands]);
  }

  [[nodiscard]] const GeneratedLaunch& operator[](const Operands& operands) {
    return launches_[operands];
  }

  /// Every launch is made again when it is next asked for.
  void clear() { launches_.clear(); }

 private:
  /// More sets of operands than a program alternates between: a plan serves the same product of all
  /// layers, and a launch takes some kilobytes.
  static constexpr std::size_t kMost = 4096;

  ByOperands<GeneratedLaunch> launches_;
};

}  // namespace overlaptune::run
