#pragma once
// Launches of a generated GEMM that a plan keeps ready, because making one takes microseconds.

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "run/gemm/generated_kernel.hpp"
#include "run/latest.hpp"
#include "run/plan.hpp"

namespace overlaptune::run {

struct OperandsHash {
  std::size_t operator()(const Operands& operands) const {
    std::uint64_t hash = 0;
    for (const void* each :
         {operands.a, operands.b, static_cast<const void*>(operands.c),
          static_cast<const void*>(operands.workspace), static_cast<const void*>(operands.scales.a),
          static_cast<const void*>(operands.scales.b)}) {
      // Addresses differ in their middle bits.
      hash = (hash ^ reinterpret_cast<std::uintptr_t>(each)) * 0x9e3779b97f4a7c15ULL;
      hash ^= hash >> 32;
    }
    return static_cast<std::size_t>(hash);
  }
};

/// One value for each set of operands.
template <class Value>
using ByOperands = Latest<Operands, Value, OperandsHash>;

/// The launches of one plan.
class Launches : public ByOperands<GeneratedLaunch> {
 public:
  /// `first`: sets of operands whose launches are made now.
  Launches(std::span<const Operands> first, Make prepare)
      : Latest(std::move(prepare), kMostLaunches) {
    for (const Operands& operands : first) static_cast<void>((*this)[operands]);
  }

 private:
  /// More sets of operands than a program alternates between: a plan serves the same product of all
  /// layers, and a launch takes some kilobytes.
  static constexpr std::size_t kMostLaunches = 4096;
};

}  // namespace overlaptune::run
